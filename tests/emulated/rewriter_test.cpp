#include "emulated/rewrite/rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace emulated_rewrite {
namespace {

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void expect_rewritten(const std::string& source, const std::string& expected) {
  std::string result;
  ASSERT_NO_THROW(result = rewrite(source)) << source;
  EXPECT_EQ(result, expected);
  EXPECT_EQ(lines_of(result), lines_of(source));
}

void expect_unchanged(const std::string& source) { expect_rewritten(source, source); }

/// Of declarations in a kernel.
void expect_in_kernel(const std::string& source, const std::string& expected) {
  expect_rewritten("__global__ void k() {" + source + "}", "__global__ void k() {" + expected + "}");
}

void expect_error(const std::string& source, std::size_t line, const std::string& text) {
  try {
    const std::string result = rewrite(source);
    ADD_FAILURE() << "no error for\n" << source << "\nbut\n" << result;
  } catch (const RewriteError& error) {
    EXPECT_EQ(error.line, line) << source;
    EXPECT_NE(std::string{error.what()}.find(text), std::string::npos) << source << "\n" << error.what();
    EXPECT_EQ(lines_of(error.what()), 0u);
  }
}

TEST(RewriteLaunch, TakesTheKernelAndItsConfiguration) {
  expect_rewritten("void f() { k<<<1, 32>>>(p, n); }", "void f() { ::__emulated::Launch(k, 1, 32)(p, n); }");
  expect_rewritten("reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);",
                   "::__emulated::Launch(reduce_kernel<T>, grid, block, block * sizeof(T))(in, out, n);");
}

TEST(RewriteLaunch, TakesAStream) {
  expect_rewritten("k<<<g, b, 0, streams[i]>>>();", "::__emulated::Launch(k, g, b, 0, streams[i])();");
}

TEST(RewriteLaunch, KnowsEveryFormOfCallee) {
  const std::pair<const char*, const char*> callees[] = {
      {"", "kernel_for<T>(block)"},
      {"", "ns::k<float, (1 << 4)>"},
      {"", "k<float, 1 << 4>"},
      {"", "k<(256 >> 1)>"},
      {"", "k<(a > b), N >= 2, A<B<C>>>"},
      {"", "k<decltype(a->b), Sum<int>, [](int a) -> int { return a > 1; }>"},
      {"", "table[i]"},
      {"", "table[i][j]"},
      {"", "(*kernel)"},
      {"", "::ns::k"},
      {"", "x.template f<T>"},
      {"", "x->f<T>"},
      {"", "this->kernels.at(i)"},
      {"", "f(a)(b)"},
      {"", "A<int, B<C>>::template k<D>"},
      {"", "decltype(x)::k"},
      {"", "static_cast<Kernel*>(p)"},
      {"", "k // the kernel\n"},
      {"", "ns /* of */ :: k"},
      {"return ", "k"},
      {"return ", "(*k)"},
      {"case 1: ", "k"},
      {"case A::b: ", "(*k)"},
      {"a ? b : ", "k<T>"},
      {"else ", "k"},
      {"else ", "::k"},
      {"do ", "(k)"},
      {"if (n > 0) ", "k<T>"},
      {"if (n > 0) ", "(*k)"},
      {"if (n > 0) ", "::k"},
      {"if constexpr (n > 0) ", "(*k)"},
      {"for (;;) ", "(k)"},
      {"auto x = ", "k"},
      {"{", "k"},
      {"(", "k"},
      {"a, ", "k"},
      {"#pragma once\n", "k"},
  };
  for (const auto& [before, callee] : callees) {
    expect_rewritten(std::string{before} + callee + "<<<g, b>>>(x)",
                     std::string{before} + "::__emulated::Launch(" + callee + ", g, b)(x)");
  }
}

TEST(RewriteLaunch, LeavesTheConfigurationAsItIs) {
  for (const std::string configuration : {"dim3(1, 2), dim3{3, 4}", "g, a >> 1", "g, (a >> b), (c >>> d)",
                                          "f<A, B<C>>(1), b", "[&] { return std::max<int>(a, b); }(), b",
                                          "/* >>>( */ g, b", "g, sizeof(A<B<C<int>>>)", "g, ')', \"(\""}) {
    expect_rewritten("k<<<" + configuration + ">>>(x)", "::__emulated::Launch(k, " + configuration + ")(x)");
  }
}

TEST(RewriteLaunch, EndsWithTheLastThreeOfARunOfBrackets) {
  expect_rewritten("k<<<g, size<A<B>>>>>(x)", "::__emulated::Launch(k, g, size<A<B>>)(x)");
  expect_rewritten("k<<<g, b>>> (x)", "::__emulated::Launch(k, g, b) (x)");
}

TEST(RewriteLaunch, KeepsLines) {
  expect_rewritten("k\n  <T,\n   2> <<<\n g, // blocks\n b\n>>>\n(x,\n y);\n",
                   "::__emulated::Launch(k\n  <T,\n   2> , \n g, // blocks\n b\n)\n(x,\n y);\n");
}

TEST(RewriteLaunch, TakesTwoOnALineAndOneInAnother) {
  expect_rewritten("k<<<1, 2>>>(); l<<<3, 4>>>();",
                   "::__emulated::Launch(k, 1, 2)(); ::__emulated::Launch(l, 3, 4)();");
  expect_rewritten("k<<<1, 2>>>([] { l<<<3, 4>>>(); });",
                   "::__emulated::Launch(k, 1, 2)([] { ::__emulated::Launch(l, 3, 4)(); });");
}

TEST(RewriteLaunch, WorksInMacros) {
  expect_rewritten("#define LAUNCH(k) k<<<1, 32>>>()\n",
                   "#define LAUNCH(k) ::__emulated::Launch(k, 1, 32)()\n");
  expect_rewritten("#define LAUNCH (*k)<<<1, 32>>>()\n",
                   "#define LAUNCH ::__emulated::Launch((*k), 1, 32)()\n");
  expect_rewritten("#define LAUNCH(k) \\\n  do { \\\r\n k##_kernel<T><<<1, \\\n 32>>>(); } while (0)\nint i;",
                   "#define LAUNCH(k) \\\n  do { \\\r\n ::__emulated::Launch(k##_kernel<T>, 1, \\\n 32)(); } "
                   "while (0)\nint i;");
  expect_rewritten("  # define A /* two\nlines */ k<<<1, 2>>>()\nk<<<1, 2>>>();",
                   "  # define A /* two\nlines */ ::__emulated::Launch(k, 1, 2)()\n"
                   "::__emulated::Launch(k, 1, 2)();");
}

TEST(RewriteLaunch, KeepsAwayFromAColon) {
  expect_rewritten("case 1:k<<<g, b>>>();", "case 1: ::__emulated::Launch(k, g, b)();");
}

TEST(RewriteLaunch, IsNoOperator) {
  expect_unchanged("a.operator<<<int>(b); operator<<<int>(c, d); a << b >> c; x = y<z<w<int>>>(1);");
}

TEST(RewriteLaunch, RefusesWhatItCannotRead) {
  expect_error("\nk<<<g, b\n>>>;", 2, "a launch without its \">>>(\"");
  expect_error("f(\nk<<<g, b)", 2, "a launch without its \">>>(\"");
  expect_error("k<<<g, (b", 1, "a launch without its \">>>(\"");
  expect_error("#define A k<<<g, \\\n b\n>>>(x)", 1, "a launch without its \">>>(\"");
  expect_error("\n\n<<<g, b>>>(x)", 3, "without a kernel");
  expect_error("return <<<g, b>>>(x)", 1, "without a kernel");
  expect_error("{\n if (x) <<<g, b>>>(x) }", 2, "without a kernel");
  expect_error("a > b><<<g, b>>>(x)", 1, "without a kernel");
  expect_error("<<<<<<< HEAD\n", 1, "a launch");
  expect_error("\nk<<<>>>(x)", 2, "without a grid and a block");
  expect_error("k<<<dim3(1, 2)>>>(x)", 1, "without a grid and a block");
}

TEST(RewriteLaunchBounds, AreCheckedByTheKernel) {
  const std::string check = "::__emulated::require_launch_bounds(";
  expect_rewritten("__global__ void __launch_bounds__(256) k(int* a) { a[0] = 1; }",
                   "__global__ void __launch_bounds__(256) k(int* a) {" + check + "256); a[0] = 1; }");
  expect_rewritten(
      "template <int B, class T> __launch_bounds__(2 * B, // two\n 4) __global__ void k(T a)\n{\n}",
      "template <int B, class T> __launch_bounds__(2 * B, // two\n 4) __global__ void k(T a)\n{" + check +
          "2 * B, 4);\n}");
  expect_rewritten("__global__ void __launch_bounds__(f<3>(s{1})) k(S s = {1}) noexcept(true) {}",
                   "__global__ void __launch_bounds__(f<3>(s{1})) k(S s = {1}) noexcept(true) {" + check +
                       "f<3>(s{1}));}");
  for (const std::string declared :
       {"__global__ void __launch_bounds__(256) k(int* a); struct S {};",
        "#define BOUNDED __launch_bounds__(256)\n", "__launch_bounds__", "int __launch_bounds__(3"})
    expect_rewritten(declared, declared);
}

TEST(RewriteDynamicSharedMemory, BecomesAPointerInAKernel) {
  expect_in_kernel("  alignas(16) extern __shared__ std::byte bytes[];",
                   "     std::byte * const bytes = ::__emulated::dynamic_shared_memory();");
  expect_in_kernel("extern __shared__ float s[];",
                   "  float * const s = ::__emulated::dynamic_shared_memory();");
}

TEST(RewriteDynamicSharedMemory, TakesSpecifiersInAnyOrder) {
  const std::string declared = " * const s = ::__emulated::dynamic_shared_memory();";
  expect_in_kernel("extern __align__(16) __shared__ int s[];", "   int" + declared);
  expect_in_kernel("extern __shared__ __align__(sizeof(T) * (2)) int s[];", "   int" + declared);
  expect_in_kernel("__shared__ extern volatile int s[];", "  volatile int" + declared);
  expect_in_kernel("extern volatile __shared__ int s[];", " volatile  int" + declared);
  expect_in_kernel("extern __shared__ __attribute__((aligned(16))) int s[];", "   int" + declared);
  expect_in_kernel("int extern __shared__ s[];", "int   * const s = ::__emulated::dynamic_shared_memory();");
  expect_in_kernel("[[maybe_unused]] extern __shared__ int s[];", "[[maybe_unused]]   int" + declared);
  expect_in_kernel("A<B> const extern __shared__ s[];",
                   "A<B> const   * const s = "
                   "::__emulated::dynamic_shared_memory();");
}

TEST(RewriteDynamicSharedMemory, TakesAnyType) {
  for (const std::string type : {"cuda::pair<int, float>", "typename A<B>::C", "unsigned long long", "::T",
                                 "float*", "A<(1 << 4), B<C<D>>>", "const T"}) {
    expect_in_kernel("extern __shared__ " + type + " s[];",
                     "  " + type + " * const s = ::__emulated::dynamic_shared_memory();");
    expect_rewritten("extern __shared__ " + type + " s[];",
                     "  static const ::__emulated::DynamicSharedArray<" + type + " > s{};");
  }
}

TEST(RewriteDynamicSharedMemory, KeepsLinesAndComments) {
  expect_in_kernel("extern // why\n __shared__ alignas( // so\n 16)\n float\n s /* s */ [ /* any */\n ]\n;",
                   " // why\n  \n\n float\n * const s /* s */  = ::__emulated::dynamic_shared_memory() "
                   "/* any */\n \n;");
}

TEST(RewriteDynamicSharedMemory, IsAnArrayOutsideOfFunctions) {
  const std::string declared = "  static const ::__emulated::DynamicSharedArray<float > s{};";
  const std::string source = "extern __shared__ float s[];";
  for (const std::string before :
       {"", "namespace a {", "namespace a::b { inline namespace c {", "inline namespace c {",
        "extern \"C\" {", "struct S { int a; };", "void f() { if (x) { } }\n", "int a = 1;", "namespace {",
        "#define A {\n", "#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}", "int a[] = {1, 2};"}) {
    expect_rewritten(before + source, before + declared);
  }
  expect_rewritten("extern __shared__ __align__(16) volatile int s[];",
                   "   static const ::__emulated::DynamicSharedArray<volatile int > s{};");
  expect_rewritten("[[maybe_unused]] alignas(16) extern __shared__ int s[];",
                   "[[maybe_unused]]    static const ::__emulated::DynamicSharedArray<int > s{};");
}

TEST(RewriteDynamicSharedMemory, IsAPointerInEveryFunction) {
  const std::string declared = "  float * const s = ::__emulated::dynamic_shared_memory();";
  const std::string source = "extern __shared__ float s[];";
  for (const std::string before :
       {"void f() {", "template <class T, struct S> void f() {", "struct S f(int a) {",
        "extern \"C\" void f() {", "namespace a { void f() { if (x) {", "struct S { void f() {",
        "class A : B<(1 << 2)> { public: A() : b{1} {", "auto f = [] {", "void f() { g([] {",
        "void f() { struct S { int a; }; ", "struct S f = [] {", "void f() { for (;;) {",
        "template <typename T> __global__ void k(struct S* s) {", "void f() { case 1: ", "void f() { if (x) ",
        "void f() { else ", "void f() {\n#pragma unroll\n",
        "#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n", "bool operator<(A a, A b) {"}) {
    expect_rewritten(before + source, before + declared);
  }
}

TEST(RewriteDynamicSharedMemory, RefusesOtherForms) {
  expect_error("void f() {\nextern __shared__ float s[32]; }", 2, "extern __shared__ TYPE NAME[]");
  expect_error("void f() { extern __shared__ float s[][32]; }", 1, "extern __shared__ TYPE NAME[]");
  expect_error("void f() { extern __shared__ float s; }", 1, "extern __shared__ TYPE NAME[]");
  expect_error("extern __shared__ float s[], t[];", 1, "each on its own");
}

TEST(RewriteSharedVariable, BecomesAReference) {
  const std::string variable = " = ::__emulated::shared_variable([] {})";
  expect_in_kernel("  __shared__ T tile[block];", "   T (&tile)[block]" + variable + ";");
  expect_in_kernel("__shared__ float tile[32][33], other[4];",
                   " float (&tile)[32][33]" + variable + ", (&other)[4]" + variable + ";");
  expect_in_kernel("__shared__ unsigned is_last;", " unsigned &is_last" + variable + ";");
  expect_in_kernel("static __shared__ int a;", "  int &a" + variable + ";");
  expect_in_kernel("__shared__ static int a;", "  int &a" + variable + ";");
  expect_in_kernel("volatile __shared__ int a;", "volatile  int &a" + variable + ";");
  expect_in_kernel("__shared__ alignas(16) unsigned char bytes[threads / 32 * sizeof(T)];",
                   "  unsigned char (&bytes)[threads / 32 * sizeof(T)]" + variable + ";");
  expect_in_kernel("__shared__ float a[3] __attribute__((aligned(16)));", " float (&a)[3]" + variable + " ;");
  expect_in_kernel("int __shared__ a [f<int>(x[2], 3)];", "int  (&a) [f<int>(x[2], 3)]" + variable + ";");
  expect_in_kernel("__shared__ typename cub::BlockReduce<T, 256>::TempStorage temp;",
                   " typename cub::BlockReduce<T, 256>::TempStorage &temp" + variable + ";");
  expect_in_kernel("[[maybe_unused]] __shared__ int a;", "[[maybe_unused]]  int &a" + variable + ";");
}

TEST(RewriteSharedVariable, TakesPointers) {
  const std::string variable = " = ::__emulated::shared_variable([] {})";
  expect_in_kernel("__shared__ float* p;", " float* &p" + variable + ";");
  expect_in_kernel("__shared__ const float *p, * const *q, r;",
                   " const float *&p" + variable + ", * const *&q" + variable + ", &r" + variable + ";");
}

TEST(RewriteSharedVariable, TakesTwoInARowOverLines) {
  const std::string variable = " = ::__emulated::shared_variable([] {})";
  expect_in_kernel("__shared__ int a;__shared__ // b\n int\n b\n [2]\n;",
                   " int &a" + variable + "; // b\n int\n (&b)\n [2]" + variable + "\n;");
}

TEST(RewriteSharedVariable, WorksInLambdas) {
  expect_in_kernel("f([&] { __shared__ int a; });",
                   "f([&] {  int &a = ::__emulated::shared_variable([] {}); });");
}

TEST(RewriteSharedVariable, RefusesOtherPlaces) {
  expect_error("\n__shared__ int a;", 2, "outside of a function: declare it in the kernel");
  expect_error("namespace a {\nstatic __shared__ int a;", 2,
               "outside of a function: declare it in the kernel");
  expect_error("void f(\n__shared__ int a) {}", 2, "as a parameter or a member");
  expect_error("template <__shared__ int a> void f() {}", 1, "");
  for (const std::string before : {"struct S {", "template <class T> class alignas(16) S final : B<T> {",
                                   "union {", "void f() { struct __align__(8) S {", "enum class E : int {",
                                   "struct S : decltype(f()) {", "struct S<(1 << 2)> { void f() { }"}) {
    expect_error(before + "\n__shared__ int a; }", 2, "as a parameter or a member");
    expect_error(before + "\nextern __shared__ int a[]; }", 2, "as a parameter or a member");
  }
}

TEST(RewriteSharedVariable, RefusesOtherForms) {
  const auto expect_error_in_kernel = [](const std::string& declaration, const std::string& text) {
    expect_error("void f() {\n" + declaration + "}", 2, text);
  };
  expect_error_in_kernel("__shared__ int a = 1;", "an initialiser");
  expect_error_in_kernel("__shared__ int a[2]{1, 2};", "an initialiser");
  expect_error_in_kernel("__shared__ struct { int a; } s;", "a type of its own");
  expect_error_in_kernel("__shared__ int& a;", "reference");
  expect_error_in_kernel("__shared__ int a[];", "without a size");
  expect_error_in_kernel("__shared__ int a(1);", "of this form");
  expect_error_in_kernel("__shared__ int (*a)[1];", "of this form");
  expect_error_in_kernel("__shared__ int a : 3;", "of this form");
  expect_error_in_kernel("__shared__ int a b[1] c;", "of this form");
  expect_error_in_kernel("__shared__ a;", "of this form");
  expect_error_in_kernel("__shared__ a, b;", "of this form");
  expect_error_in_kernel("__shared__ int a,;", "of this form");
  expect_error_in_kernel("__shared__ A<B a;", "of this form");
  expect_error_in_kernel("__shared__ ;", "of this form");
  expect_error_in_kernel("typedef __shared__ int a;", "of this form");
  expect_error_in_kernel("constexpr __shared__ int a;", "of this form");
  expect_error_in_kernel("x = __shared__ int a;", "of this form");
  expect_error_in_kernel("__shared__ alignas int a;", "of this form");
  expect_error_in_kernel("__shared__ int a", "without its \";\"");
  expect_error_in_kernel("__shared__ int a[2;", "without its \";\"");
  expect_error_in_kernel("__shared__ alignas(k<<<1, 2>>>(3)) int a;", "a launch in an alignment");
}

/// What launches a kernel by its name: its declaration up to the parameters, and its body.
std::string counterpart(const std::string& before, const std::string& name, const std::string& parameters) {
  return before + " void __emulated_launch_" + name + "(const ::__emulated::LaunchConfig& __emulated_config" +
         parameters + ")";
}
std::string launching(const std::string& types, const std::string& pointer, const std::string& arguments) {
  return " { ::__emulated::launch(__emulated_config, static_cast<void (*)(" + types + ")>(" + pointer + ")" +
         arguments + "); }";
}
const std::string launch_config = "(::__emulated::launch_config(";
const std::string of_any_file = " [[maybe_unused]] static";

TEST(RewriteLaunch, DeducesWhatATemplateLeavesOut) {
  const std::string kernel =
      "template <typename T, int n = 4>\n__global__ void __launch_bounds__(64) k(const T* in,  // of the "
      "host\n T* out) {";
  const std::string bound = "::__emulated::require_launch_bounds(64);";
  const std::string launched =
      counterpart(" template <typename T, int n = 4>", "k", ", const T* in, T* out") +
      launching("decltype(in), decltype(out)", "&k<T, n>", ", in, out");
  expect_rewritten(kernel + "}\nvoid f() { k<<<1, 32>>>(p, q); }", kernel + bound + "}" + launched +
                                                                       "\nvoid f() { __emulated_launch_k" +
                                                                       launch_config + "1, 32), p, q); }");
  expect_rewritten(kernel + "}\nvoid f() { ns::k<float><<<1, 32>>> (p, q); }",
                   kernel + bound + "}" + launched + "\nvoid f() { ns::__emulated_launch_k<float>" +
                       launch_config + "1, 32) , p, q); }");
  expect_rewritten(kernel + "}\nvoid f() { k<float, (1, 2)><<<1, 32>>>(p, q); }",
                   kernel + bound + "}\nvoid f() { ::__emulated::Launch(k<float, (1, 2)>, 1, 32)(p, q); }");
  const std::string pack =
      "template <class... Ts, template <class> class C> __global__ void k(C<Ts>... all) { f(); }";
  expect_rewritten(
      pack + "void f() { k<<<1, 32>>>(p); k<<<2, 32>>>(); }",
      pack + counterpart(" template <class... Ts, template <class> class C>", "k", ", C<Ts>... all") +
          launching("decltype(all)...", "&k<Ts..., C>", ", all...") + "void f() { __emulated_launch_k" +
          launch_config + "1, 32), p); __emulated_launch_k" + launch_config + "2, 32)); }");
  // No kernels, or no templates with names to repeat.
  for (const char* const other :
       {"template <typename T> void k(T* p) {}", "template <typename T, int> __global__ void k(T* p) {}",
        "template <> __global__ void k(int* p) {}", "template __global__ void k<int>(int* p);",
        "struct S { template <typename T> friend __global__ void k(T* p); };"}) {
    expect_rewritten(other + std::string{"void f() { k<<<1, 32>>>(p); }"},
                     other + std::string{"void f() { ::__emulated::Launch(k, 1, 32)(p); }"});
  }
}

TEST(RewriteLaunch, TakesATemplateThatIsDefinedLaterOrElsewhere) {
  const std::string launch = "void f() { k<<<1, 32>>>(p, 3); }";
  const std::string launched = "void f() { __emulated_launch_k" + launch_config + "1, 32), p, 3); }";
  const std::string declared = counterpart(" template <class T>", "k", ", T* reduction_0, int reduction_1");
  expect_rewritten(
      "template <class T> __global__ void k(T*, int);" + launch,
      "template <class T> __global__ void k(T*, int);" + declared +
          launching("decltype(reduction_0), decltype(reduction_1)", "&k<T>", ", reduction_0, reduction_1") +
          launched);
  const std::string later = "template <typename U> __global__ void k(U* p, const int n) {}";
  expect_rewritten("template <class T> __global__ void k(T*, int);" + launch + later,
                   "template <class T> __global__ void k(T*, int);" + declared + ";" + launched + later +
                       counterpart(" template <typename U>", "k", ", U* p, const int n") +
                       launching("decltype(p), decltype(n)", "&k<U>", ", p, n"));
}

TEST(RewriteLaunch, ChoosesAmongKernelsOfOneName) {
  const std::string one = "__global__ void k(int* p) {}";
  const std::string other = "\n__global__ void k(float) noexcept {}";
  expect_rewritten(one + other + "void f() { k<<<1, 32>>>(p); }",
                   one + counterpart(of_any_file, "k", ", int* p") + launching("decltype(p)", "&k", ", p") +
                       other + counterpart(of_any_file, "k", ", float reduction_0") +
                       launching("decltype(reduction_0)", "&k", ", reduction_0") +
                       "void f() { __emulated_launch_k" + launch_config + "1, 32), p); }");
  // One kernel, or one in each namespace.
  for (const std::string& alone : {one, "__global__ void k(int*); " + one,
                                   "#if A\n" + one + "\n#else\n__global__ void k(int*) { }\n#endif\n",
                                   "namespace a { " + one + " } namespace b {" + other + " } using a::k; "}) {
    expect_rewritten(alone + "void f() { k<<<1, 32>>>(p); }",
                     alone + "void f() { ::__emulated::Launch(k, 1, 32)(p); }");
  }
}

TEST(RewriteLaunch, TakesDefaultArguments) {
  const std::string kernel =
      "__global__ void k(int* p, const int v[2] = A<B, C>::d, void (*)(int) = f(1, 2));";
  const std::string launched =
      counterpart(of_any_file, "k",
                  ", int* p, const int v [2] = A<B, C>::d, void (* reduction_2 )(int) = f(1, 2)") +
      launching("decltype(p), decltype(v), decltype(reduction_2)", "&k", ", p, v, reduction_2");
  expect_rewritten(kernel + "void f() { k<<<1, 32>>>(p, f(q, r)); k<<<1, 32>>>(p, q, r); }",
                   kernel + launched + "void f() { __emulated_launch_k" + launch_config +
                       "1, 32), p, f(q, r)); ::__emulated::Launch(k, 1, 32)(p, q, r); }");
  expect_rewritten(
      "__global__ void k(unsigned = 1);\n__global__ void k(unsigned n) {}\nvoid f() { k<<<1, 2>>>( ); }",
      "__global__ void k(unsigned = 1);" + counterpart(of_any_file, "k", ", unsigned reduction_0 = 1") +
          ";\n__global__ void k(unsigned n) {}" + counterpart(of_any_file, "k", ", unsigned n") +
          launching("decltype(n)", "&k", ", n") + "\nvoid f() { __emulated_launch_k" + launch_config +
          "1, 2) ); }");
}

TEST(RewriteLaunch, RefusesOneWithinAKernel) {
  expect_error("__global__ void k(int* p) {\n if (p) {\n  k<<<1, 1>>>(p);\n }\n}", 3, "dynamic parallelism");
  expect_error("__device__ void f() { k<<<1, 1>>>(); }", 1, "dynamic parallelism");
  expect_rewritten("__host__ __device__ void f() { k<<<1, 1>>>(); }",
                   "__host__ __device__ void f() { ::__emulated::Launch(k, 1, 1)(); }");
}

TEST(RewriteConstant, LeavesTheWordOutWhereTheVariableIsConst) {
  expect_unchanged("__constant__ int n;\nstatic __constant__ float table[2] = {1, 2};");
  expect_unchanged("__constant__ const float* p;");
  expect_rewritten("__constant__ const float table[] = {1};", " const float table[] = {1};");
  expect_rewritten("int x;\nstatic const __constant__ int n = 1;", "int x;\nstatic const  int n = 1;");
  expect_rewritten("constexpr __constant__ const char* p = q;", "constexpr  const char* p = q;");
  expect_rewritten("__constant__ const char* const p = q;", " const char* const p = q;");
}

TEST(RewriteAssembly, MakesItAnErrorInKernels) {
  const std::string error =
      "static_assert(false, \"asm: inline PTX is not modelled on the emulated device: write it in CUDA C++\");";
  expect_in_kernel("asm volatile(\"mov %0, 1;\" : \"=r\"(x));", error);
  expect_rewritten("__device__ int f() { if (x) { asm(\"a\"\n\"b\"); } }",
                   "__device__ int f() { if (x) { \n" + error + " } }");
  expect_unchanged("void f() { asm(\"nop\"); }");
}

TEST(Rewrite, LeavesCommentsAndLiteralsAlone) {
  expect_unchanged("// k<<<1, 2>>>(x) __shared__ \\\n __shared__ int a;\n/* __shared__ k<<< \n \" ' */");
  expect_unchanged(R"(f("k<<<1, 2>>>(x) \" __shared__ int a;", '"', '\'', L'<', u8"\\", "a\)"
                   "\n b\");");
  expect_unchanged(
      "R\"x(__shared__ )\" <<< )x\"; u8R\"(\")\" LR\"a(\n\")a\" uR\"()\" UR\"(<<<)\"; __shared __shared___;");
  expect_unchanged("1'000'000 + 0x1'F + 1e+5 + 'a' + .5'5;");
  expect_unchanged("int my__shared__x, __shared__y, x__shared__;");
  expect_rewritten("a = 1'000; k<<<1'0, 'a'>>>(\"//\");",
                   "a = 1'000; ::__emulated::Launch(k, 1'0, 'a')(\"//\");");
}

TEST(Rewrite, LeavesDirectivesAlone) {
  expect_unchanged(
      "#pragma once\n#include <a<<<b>\n#include \"__shared__/*.h\"\n#error can't <<< __shared__ \\\n <<<\n");
  expect_unchanged(
      "#ifndef __shared__\n#define __shared__\n#endif\n#undef __shared__\n#if defined(__shared__)\n#endif");
  expect_unchanged("#\n# /* a */ pragma k<<<  // __shared__ \\\n <<<\n#if 1 /* a\n */ <<<\n#endif");
  expect_unchanged(
      "#define URL \"http://<<<\"\n#define CHARACTER '\"'\n#define __shared__(x) x\n#define\n#define A(");
}

TEST(Rewrite, RefusesSharedVariablesInMacros) {
  const std::string text = "a __shared__ variable in a macro cannot be rewritten: declare it in the kernel";
  expect_error("\n#define TILE __shared__ float\n", 2, text);
  expect_error("\n#define TILE(a) \\\n  __shared__ float a\n", 2, text);
}

TEST(Rewrite, RefusesWhatHasNoEnd) {
  expect_error("\n/* a\n", 2, "a comment without its \"*/\"");
  expect_error("\n#if 1 /* a\n\n", 2, "a comment without its \"*/\"");
  expect_error("a\n\"b\n\"", 2, "a literal without its closing quote");
  expect_error("a\n'b", 2, "a literal without its closing quote");
  expect_error("'\\", 1, "a literal without its closing quote");
  expect_error("\nR\"a(\n)b\"", 2, "a raw string without its end");
  expect_error("R\"a", 1, "a raw string without its end");
}

TEST(Rewrite, LeavesEverythingElseAlone) {
  expect_unchanged("");
  expect_unchanged("\r\n\t x \\\r\n y \\ @ $ \xc3\xa9 } ) ] ( [ { ;");
  expect_unchanged(
      "template <typename T> __global__ void k(T* p) { p[threadIdx.x] <<= a < b > c; __syncthreads(); }\n");
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Rewrite, ReadsEverySourceOfThisProject) {
  std::size_t sources = 0;
  for (std::filesystem::recursive_directory_iterator entry{SOURCE_FOLDER}, end; entry != end; ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name[0] == '.' || name.starts_with("build")))
      entry.disable_recursion_pending();
    if (entry->path().extension() != ".cuh" && entry->path().extension() != ".cu") continue;
    const std::string source = text_of(entry->path());
    std::string result;
    EXPECT_NO_THROW(result = rewrite(source)) << entry->path();
    EXPECT_EQ(lines_of(result), lines_of(source)) << entry->path();
    ++sources;
  }
  EXPECT_GT(sources, 20u);
}

const char everything[] = R"y(#pragma once
#include <cuda_runtime.h>
#define LAUNCH(k) k<<<1, \
                      32>>>()
namespace a {
extern __shared__ __align__(16) float all[];
struct S { int a; };
#if defined(A)
template <typename T, class U = A<B<C>>> __global__ void k(T* p) {
#else
template <typename T> __global__ void k(T* p, int) {
#endif
  extern alignas(16) volatile __shared__ cuda::pair<int, float> s[];
  static __shared__ float tile[32][33] /* padded */, *other, one;
  // "comments" /* and '
  f("strings\"", 'c', '\'', R"x( raw " )x", 1'000'000, [&] { __shared__ int x; });
}
template <class T> requires A<T> __global__ void l(T*, int = f(1, 2), void (*)(int) = nullptr);
__global__ void l(int* const a, unsigned long (&b)[2], struct S s = {}) noexcept {}
void run() {
  l<<<1, 2>>>(p, size<A, B>);
  if (n > 1) (*table[i].template f<T>(x))<<<dim3{1, 2}, (a >> b), size<A<B>>>>>(x, "y");
  ns::k<float, (1 << 4), A<B<C>>><<<g, b>>>(x);
}
}  // namespace a
)y";

TEST(Rewrite, NeitherCrashesNorHangsOnASourceCutAnywhere) {
  const std::string source = everything;
  EXPECT_EQ(lines_of(rewrite(source)), lines_of(source));
  for (std::size_t length = 0; length < source.size(); ++length) {
    for (const std::string& part : {source.substr(0, length), source.substr(length),
                                    source.substr(0, length) + source.substr(length + 1)}) {
      try {
        EXPECT_EQ(lines_of(rewrite(part)), lines_of(part));
      } catch (const RewriteError& error) {
        EXPECT_GE(error.line, 1u);
        EXPECT_LE(error.line, lines_of(part) + 1);
      }
    }
  }
}

}  // namespace
}  // namespace emulated_rewrite
