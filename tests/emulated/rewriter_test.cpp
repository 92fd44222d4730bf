#include "emulated/rewrite/rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace emulated_rewrite {
namespace {

struct Case {
  std::string name;
  std::string source;
  std::string expected{};      ///< what becomes of it, nothing if it stays; a part of an error's message
  std::size_t error_line = 0;  ///< 0 if it is none
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A source that is cut anywhere is rewritten or refused: that neither crashes nor goes on forever.
void cut(const std::string& source) {
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

void run(const std::vector<Case>& cases) {
  for (const auto& [name, source, expected, error_line] : cases) {
    SCOPED_TRACE(name + ":\n" + source);
    try {
      const std::string result = rewrite(source);
      EXPECT_EQ(error_line, 0u);
      EXPECT_EQ(result, expected.empty() ? source : expected);
      EXPECT_EQ(lines_of(result), lines_of(source));
    } catch (const RewriteError& error) {
      EXPECT_EQ(error.line, error_line) << error.what();
      EXPECT_NE(std::string{error.what()}.find(expected), std::string::npos) << error.what();
      EXPECT_EQ(lines_of(error.what()), 0u);
    }
    cut(source);
  }
}

/// The same with each of some texts, which `source` and `expected` have in place of "@".
std::vector<Case> with_each(const std::string& source, const std::string& expected,
                            std::initializer_list<std::string> texts, std::size_t error_line = 0) {
  const auto put = [](std::string where, const std::string& text) {
    const std::size_t at = where.find('@');
    return at == std::string::npos ? where : where.replace(at, 1, text);
  };
  std::vector<Case> cases;
  for (const std::string& text : texts)
    cases.push_back({text, put(source, text), put(expected, text), error_line});
  return cases;
}

/// The same in a kernel's body, on a line of its own.
std::vector<Case> in_kernel(std::vector<Case> cases) {
  for (auto& [name, source, expected, error_line] : cases) {
    source = "__global__ void k() {\n" + source + "}";
    if (error_line == 0 && !expected.empty()) expected = "__global__ void k() {\n" + expected + "}";
    if (error_line != 0) ++error_line;
  }
  return cases;
}

const std::string launch = "::__emulated::ConfiguredKernel(";
/// An argument that has a variable's name.
std::string named(const std::string& name) { return "([] { return \"" + name + "\"; })"; }
std::string variable(const std::string& name) { return " = ::__emulated::shared_variable" + named(name); }
const std::string dynamic = "* const s = ::__emulated::dynamic_shared_memory" + named("s") + ";";
const std::string bytes = "  char * const b = ::__emulated::dynamic_shared_memory";
const std::string shared_in_file = "static __device__ const ::__emulated::SharedInFile<";
std::string in_file(const std::string& name, const std::string& extents = "") {
  return " " + extents + ", decltype" + named(name) + "> " + name + "{};";
}
const std::string array_in_file = in_file("s", "[]");

TEST(Rewriter, Launches) {
  run({
      {"configuration", "void f() { k<<<1, 32>>>(p, n); }", "void f() { " + launch + "k, 1, 32)(p, n); }"},
      {"shared memory and a stream", "k<T><<<grid, block, block * sizeof(T), streams[i]>>>(in, out, n);",
       launch + "k<T>, grid, block, block * sizeof(T), streams[i])(in, out, n);"},
      {"the last three of a run of brackets end it", "k<<<g, size<A<B>>>>>(x)",
       launch + "k, g, size<A<B>>)(x)"},
      {"over lines", "k\n  <T,\n   2> <<<\n g, // blocks\n b\n>>>\n(x,\n y);\n",
       launch + "k\n  <T,\n   2> , \n g, // blocks\n b\n)\n(x,\n y);\n"},
      {"two on a line", "k<<<1, 2>>>(); l<<<3, 4>>>();", launch + "k, 1, 2)(); " + launch + "l, 3, 4)();"},
      {"one in another", "k<<<1, 2>>>([] { l<<<3, 4>>>(); });",
       launch + "k, 1, 2)([] { " + launch + "l, 3, 4)(); });"},
      {"no :::", "case 1:k<<<g, b>>>();", "case 1: " + launch + "k, g, b)();"},
      {"operators", "a.operator<<<int>(b); operator<<<int>(c, d); a << b >> c; x = y<z<w<int>>>(1);"},
      {"numbers with quotes", "a = 1'000; k<<<1'0, 'a'>>>(\"//\");",
       "a = 1'000; " + launch + "k, 1'0, 'a')(\"//\");"},
  });
  run(with_each(
      "@<<<g, b>>>(x)", launch + "@, g, b)(x)",
      {"kernel_for<T>(block)", "ns::k<float, (1 << 4)>", "k<float, 1 << 4>", "k<(256 >> 1)>",
       "k<(a > b), N >= 2, A<B<C>>>", "k<decltype(a->b), Sum<int>, [](int a) -> int { return a > 1; }>",
       "table[i]", "table[i][j]", "(*kernel)", "::ns::k", "x.template f<T>", "x->f<T>", "this->kernels.at(i)",
       "f(a)(b)", "A<int, B<C>>::template k<D>", "decltype(x)::k", "static_cast<Kernel*>(p)",
       "k // the kernel\n", "ns /* of */ :: k"}));
  run(with_each(
      "@k<<<g, b>>>(x)", "@" + launch + "k, g, b)(x)",
      {"return ", "case 1: ", "else ", "if (n > 0) ", "auto x = ", "{", "(", "a, ", "#pragma once\n"}));
  run(with_each("@k<T><<<g, b>>>(x)", "@" + launch + "k<T>, g, b)(x)", {"a ? b : ", "if (n > 0) "}));
  run(with_each("@::k<<<g, b>>>(x)", "@" + launch + "::k, g, b)(x)", {"else ", "if (n > 0) "}));
  run(with_each("@(*k)<<<g, b>>>(x)", "@" + launch + "(*k), g, b)(x)",
                {"return ", "case A::b: ", "do ", "if (n > 0) ", "if constexpr (n > 0) ", "for (;;) "}));
  run(with_each("k<<<@>>>(x)", launch + "k, @)(x)",
                {"dim3(1, 2), dim3{3, 4}", "g, a >> 1", "g, (a >> b), (c >>> d)", "f<A, B<C>>(1), b",
                 "[&] { return std::max<int>(a, b); }(), b", "/* >>>( */ g, b", "g, sizeof(A<B<C<int>>>)",
                 "g, ')', \"(\""}));
}

TEST(Rewriter, LaunchesInMacros) {
  run({
      {"with parameters", "#define LAUNCH(k) k<<<1, 32>>>()\n",
       "#define LAUNCH(k) " + launch + "k, 1, 32)()\n"},
      {"a bracket is no parameter", "#define LAUNCH (*k)<<<1, 32>>>()\n",
       "#define LAUNCH " + launch + "(*k), 1, 32)()\n"},
      {"over lines",
       "#define LAUNCH(k) \\\n  do { \\\r\n k##_kernel<T><<<1, \\\n 32>>>(); } while (0)\nint i;",
       "#define LAUNCH(k) \\\n  do { \\\r\n " + launch + "k##_kernel<T>, 1, \\\n 32)(); } while (0)\nint i;"},
      {"around a comment", "  # define A /* two\nlines */ k<<<1, 2>>>()\nk<<<1, 2>>>();",
       "  # define A /* two\nlines */ " + launch + "k, 1, 2)()\n" + launch + "k, 1, 2)();"},
      {"with any configuration", "#define LAUNCH(k, ...) k<<<__VA_ARGS__>>>()\n",
       "#define LAUNCH(k, ...) " + launch + "k, __VA_ARGS__)()\n"},
      {"arguments outside of it", "#define BY_TWO(k) k<<<1, 2>>>\nBY_TWO(k)(x);",
       "#define BY_TWO(k) " + launch + "k, 1, 2)\nBY_TWO(k)(x);"},
      {"a blank behind the backslash", "#define A \\ \t\n k<<<1, \\ \r\n 2>>>()\n",
       "#define A \\ \t\n " + launch + "k, 1, \\ \r\n 2)()\n"},
  });
}

TEST(Rewriter, CastsOfALaunchByAFunction) {
  const std::string call = "cudaLaunchCooperativeKernel(";
  run(with_each(call + "@k<T, 256>, grid, block, arguments)", call + "k<T, 256>, grid, block, arguments)",
                {"(void*)", "(const void *)", "(void const*)"}));
  run(with_each("#define LAUNCH(k) cudaLaunchKernel(@, g, b, a)\n",
                "#define LAUNCH(k) cudaLaunchKernel((&k), g, b, a)\n",
                {"reinterpret_cast<void*>(&k)", "reinterpret_cast<const void*>(&k)", "(void*)(&k)", "(&k)"}));
  run({{"no cast to an untyped pointer", call + "(Kernel*)k, g, b, a); " + call + "(k), g, b, a);"},
       {"no launch", "cudaFuncSetAttribute((void*)k, a, 1);"}});
}

TEST(Rewriter, KernelsWithTheNameOfAFunction) {
  const std::string kernel = "__global__ void k(int n) {}";
  const std::string counterpart =
      " [[maybe_unused]] static void __emulated_launch_k [[gnu::noinline]](const "
      "::__emulated::ExecutionConfiguration& "
      "__emulated_configuration, int n) { ::__emulated::launch(__emulated_configuration, static_cast<void "
      "(*)(decltype(n))>(&k), n); }";
  run({{"a function that launches it", kernel + "\nvoid k(float* x, int n) { k<<<1, 2>>>(n); }",
        kernel + counterpart +
            "\nvoid k(float* x, int n) { "
            "__emulated_launch_k(::__emulated::ExecutionConfiguration(1, 2), n); }"},
       {"a call", kernel + "\nvoid f() { k(1); }"}});
}

TEST(Rewriter, RefusedLaunches) {
  const std::string no_end = "a launch without its \">>>(\"";
  run({
      {"no arguments", "\nk<<<g, b\n>>>;", no_end, 2},
      {"no end", "f(\nk<<<g, b)", no_end, 2},
      {"a bracket without its end", "k<<<g, (b", no_end, 1},
      {"an end outside of the macro", "#define A k<<<g, \\\n b\n>>>(x)", no_end, 1},
      {"the end of another one", "\nk<<<g, l<<<1, 2>>>(x)", no_end, 2},
      {"no kernel", "\n\n<<<g, b>>>(x)", "without a kernel", 3},
      {"a keyword", "return <<<g, b>>>(x)", "without a kernel", 1},
      {"a condition", "{\n if (x) <<<g, b>>>(x) }", "without a kernel", 2},
      {"a comparison", "a > b><<<g, b>>>(x)", "without a kernel", 1},
      {"a conflict of versions", "<<<<<<< HEAD\n", "a launch", 1},
      {"no configuration", "\nk<<<>>>(x)", "without a grid and a block", 2},
      {"no block", "k<<<dim3(1, 2)>>>(x)", "without a grid and a block", 1},
      {"in a kernel", "__global__ void k(int* p) {\n if (p) {\n  k<<<1, 1>>>(p);\n }\n}",
       "dynamic parallelism", 3},
      {"in a function of the device", "__device__ void f() { k<<<1, 1>>>(); }", "dynamic parallelism", 1},
      {"in one of host and device", "__host__ __device__ void f() { k<<<1, 1>>>(); }",
       "__host__ __device__ void f() { " + launch + "k, 1, 1)(); }"},
  });
}

TEST(Rewriter, DynamicSharedMemory) {
  run(in_kernel({
      {"a pointer", "extern __shared__ float s[];", "  float " + dynamic},
      {"bytes with a type 1", "extern __shared__ char b[]; T* s = reinterpret_cast<T*>(b);",
       bytes + "<T>" + named("s") + "; T* s = reinterpret_cast<T*>(b);"},
      {"bytes with a type 2", "extern __shared__ std::byte b[]; auto* const s = (A<T> *)b;",
       "  std::byte * const b = ::__emulated::dynamic_shared_memory<A<T>>" + named("s") +
           "; auto* const s = (A<T> *)b;"},
      {"bytes without one 1", "extern __shared__ char b[]; T* s = (T*)c;",
       bytes + named("b") + "; T* s = (T*)c;"},
      {"bytes without one 2", "extern __shared__ char b[]; T* s = reinterpret_cast<T*>(b + n);",
       bytes + named("b") + "; T* s = reinterpret_cast<T*>(b + n);"},
      {"no bytes", "extern __shared__ float s[]; int* t = (int*)s;",
       "  float " + dynamic + " int* t = (int*)s;"},
      {"in any order 1", "alignas(16) extern __shared__ std::byte s[];", "   std::byte " + dynamic},
      {"in any order 3", "extern __shared__ __align__(sizeof(T) * (2)) int s[];", "   int " + dynamic},
      {"in any order 4", "__shared__ extern volatile int s[];", "  volatile int " + dynamic},
      {"in any order 6", "extern __shared__ __attribute__((aligned(16))) int s[];", "   int " + dynamic},
      {"in any order 7", "int extern __shared__ s[];", "int   " + dynamic},
      {"in any order 8", "[[maybe_unused]] extern __shared__ int s[];", "[[maybe_unused]]   int " + dynamic},
      {"in any order 9", "A<B> const extern __shared__ s[];", "A<B> const   " + dynamic},
      {"lines and comments stay",
       "extern // why\n __shared__ alignas( // so\n 16)\n float\n s /* s */ [ /* any */\n ]\n;",
       " // why\n  \n\n float\n * const s /* s */  = ::__emulated::dynamic_shared_memory" + named("s") +
           " /* any */\n \n;"},
  }));
  const std::initializer_list<std::string> types{
      "cuda::pair<int, float>", "typename A<B>::C", "unsigned long long", "::T", "float*",
      "A<(1 << 4), B<C<D>>>",   "const T"};
  run(in_kernel(with_each("extern __shared__ @ s[];", "  @ " + dynamic, types)));
  run(with_each("extern __shared__ @ s[];", "  " + shared_in_file + "@" + array_in_file, types));
  run(with_each(
      "@extern __shared__ float s[];", "@  " + shared_in_file + "float" + array_in_file,
      {"namespace a {", "namespace a::b { inline namespace c {", "inline namespace c {", "extern \"C\" {",
       "struct S { int a; };", "void f() { if (x) { } }\n", "int a = 1;", "namespace {", "#define A {\n",
       "#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}", "int a[] = {1, 2};"}));
  run(with_each("@extern __shared__ float s[];", "@  float " + dynamic,
                {"void f() {", "template <class T, struct S> void f() {", "struct S f(int a) {",
                 "extern \"C\" void f() {", "namespace a { void f() { if (x) {", "struct S { void f() {",
                 "class A : B<(1 << 2)> { public: A() : b{1} {", "auto f = [] {", "void f() { g([] {",
                 "void f() { struct S { int a; }; ", "struct S f = [] {", "void f() { for (;;) {",
                 "template <typename T> __global__ void k(struct S* s) {", "void f() { case 1: ",
                 "void f() { if (x) ", "void f() { else ", "void f() {\n#pragma unroll\n",
                 "#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n", "bool operator<(A a, A b) {"}));
  const std::string form = "extern __shared__ TYPE NAME[]";
  run({
      {"specifiers in file", "extern __shared__ __align__(16) volatile int s[];",
       "   " + shared_in_file + "volatile int" + array_in_file},
      {"attribute in file", "[[maybe_unused]] alignas(16) extern __shared__ int s[];",
       "[[maybe_unused]]    " + shared_in_file + "int" + array_in_file},
      {"a size", "void f() {\nextern __shared__ float s[32]; }", form, 2},
      {"two dimensions", "void f() { extern __shared__ float s[][32]; }", form, 1},
      {"no array", "void f() { extern __shared__ float s; }", form, 1},
  });
}

TEST(Rewriter, SharedVariables) {
  run(in_kernel({
      {"an array", "  __shared__ T tile[block];", "   T (&tile)[block]" + variable("tile") + ";"},
      {"several", "__shared__ float tile[32][33], other[4];",
       " float (&tile)[32][33]" + variable("tile") + ", (&other)[4]" + variable("other") + ";"},
      {"a scalar", "__shared__ unsigned is_last;", " unsigned &is_last" + variable("is_last") + ";"},
      {"static before", "static __shared__ int a;", "  int &a" + variable("a") + ";"},
      {"static behind", "__shared__ static int a;", "  int &a" + variable("a") + ";"},
      {"volatile", "volatile __shared__ int a;", "volatile  int &a" + variable("a") + ";"},
      {"an alignment", "__shared__ alignas(16) unsigned char bytes[threads / 32 * sizeof(T)];",
       "  unsigned char (&bytes)[threads / 32 * sizeof(T)]" + variable("bytes") + ";"},
      {"an alignment behind", "__shared__ float a[3] __attribute__((aligned(16)));",
       " float (&a)[3]" + variable("a") + " ;"},
      {"an alignment at once", "__shared__ int a[3]__attribute__((aligned(16)));",
       " int (&a)[3]" + variable("a") + ";"},
      {"lines of Windows", "__shared__\r\nint a\r\n[2];\r\n",
       "\r\nint (&a)\r\n[2]" + variable("a") + ";\r\n"},
      {"behind the type", "int __shared__ a [f<int>(x[2], 3)];",
       "int  (&a) [f<int>(x[2], 3)]" + variable("a") + ";"},
      {"a template's type", "__shared__ typename cub::BlockReduce<T, 256>::TempStorage temp;",
       " typename cub::BlockReduce<T, 256>::TempStorage &temp" + variable("temp") + ";"},
      {"an attribute", "[[maybe_unused]] __shared__ int a;",
       "[[maybe_unused]]  int &a" + variable("a") + ";"},
      {"pointers", "__shared__ const float *p, * const *q, r;",
       " const float *&p" + variable("p") + ", * const *&q" + variable("q") + ", &r" + variable("r") + ";"},
      {"two in a row over lines", "__shared__ int a;__shared__ // b\n int\n b\n [2]\n;",
       " int &a" + variable("a") + "; // b\n int\n (&b)\n [2]" + variable("b") + "\n;"},
      {"in a lambda", "f([&] { __shared__ int a; });", "f([&] {  int &a" + variable("a") + "; });"},
      {"an initialiser", "__shared__ int a = 1;", "an initialiser", 1},
      {"an initialiser in braces", "__shared__ int a[2]{1, 2};", "an initialiser", 1},
      {"a type of its own", "__shared__ struct { int a, b[2]; } s, t[4];",
       " struct { int a, b[2]; } &s" + variable("s") + ", (&t)[4]" + variable("t") + ";"},
      {"a union of its own", "__shared__ union U { int a; float b; } u;",
       " union U { int a; float b; } &u" + variable("u") + ";"},
      {"a type of its own alone", "__shared__ struct S { int a; };", "of this form", 1},

      {"a reference", "__shared__ int& a;", "reference", 1},
      {"no size", "__shared__ int a[];", "without a size", 1},
      {"no end", "__shared__ int a", "without its \";\"", 1},
      {"a bracket without its end", "__shared__ int a[2;", "without its \";\"", 1},
  }));
  run(in_kernel(with_each(
      "@", "of this form",
      {"__shared__ int a(1);", "__shared__ int (*a)[1];", "__shared__ int a : 3;", "__shared__ int a b[1] c;",
       "__shared__ a;", "__shared__ a, b;", "__shared__ int a,;", "__shared__ A<B a;", "__shared__ ;",
       "typedef __shared__ int a;", "constexpr __shared__ int a;", "x = __shared__ int a;",
       "using T = __shared__ int;", "__shared__ int f();", "__shared__ alignas int a;"},
      1)));
  const std::string parameter = "as a parameter or a member";
  run({
      {"two in file", "\n__shared__ int s, t;", "each on its own", 2},
      {"a type of its own in file", "\n__shared__ struct { int a; } s;", "define the type before it", 2},
      {"a parameter", "void f(\n__shared__ int a) {}", parameter, 2},
      {"a cast", "void f() { g(\n(__shared__ int*)p); }", parameter, 2},
      {"nothing else", "\n__shared__", "without its \";\"", 2},
      {"a template's parameter", "template <__shared__ int a> void f() {}", "", 1},
      {"in a macro", "\n#define TILE(a) \\\n __shared__ float a\n", "in a macro cannot be rewritten", 3},
  });
  for (const std::string declaration : {"__shared__ int a", "extern __shared__ int a[]"}) {
    run(with_each("@\n" + declaration + "; }", parameter,
                  {"struct S {", "template <class T> class alignas(16) S final : B<T> {", "union {",
                   "void f() { struct __align__(8) S {", "enum class E : int {", "struct S : decltype(f()) {",
                   "struct S<(1 << 2)> { void f() { }"},
                  2));
  }
}

TEST(Rewriter, SharedVariablesOutsideOfFunctions) {
  const std::string declared = "__shared__ T s; namespace a { static __shared__ int b\n[2] [3]; }\n";
  const std::string rewritten = " " + shared_in_file + "T" + in_file("s") + " namespace a {   " +
                                shared_in_file + "int [2] [3], decltype" + named("b") + "> b\n{}; }\n";
  const std::string s = "::__emulated::of_block(s)";
  for (const std::string begin :
       {"", "x; ", "{ } ", "if (x) ", "else ", "(int)", "int r = ", "return ", "x + ", "x ? y : ", "f(",
        "f(x, ", "f(&", "2 * ", "*", "p[", "!", "sizeof "}) {
    run({{begin, declared + "void f() { " + begin + "s; }", rewritten + "void f() { " + begin + s + "; }"}});
  }
  for (const std::string end : {".x", "->x", "[i] = 1", "++", " = 2", ", 1)", ")"})
    run({{end, declared + "void f() { (s" + end + "; }", rewritten + "void f() { (" + s + end + "; }"}});
  // Another one of the name, or what the compiler has to convert.
  for (const std::string other :
       {"int s;",           "int x, s;", "int* s;",  "T<int> s;",      "auto [s, x] = y;",
        "int (&s)[2] = y;", "x.s;",      "p->s;",    "S::x, s();",     "x * s;",
        "x > s;",           "x && s;",   "[s] { };", "decltype(s) x;", "for (int i = 0, s = 1;;) { }",
        "struct { } s;",    "f(x) s;",   "s x;",     "s::x;",          "enum class E { s };",

        "A() : s(1) { }"})
    run({{other, declared + "void f() { " + other + " }", rewritten + "void f() { " + other + " }"}});
  run({{"in a macro", declared + "#define A(i) s[i] + x##s\n",
        rewritten + "#define A(i) " + s + "[i] + x##s\n"},
       {"in a namespace", declared + "void f() { a::b[1] = ::a::b[2]; }",
        rewritten + "void f() { ::__emulated::of_block(a::b)[1] = ::__emulated::of_block(::a::b)[2]; }"},
       {"in file", declared + "S s; s;", rewritten + "S s; s;"}});
}

/// What launches a kernel by its name: its declaration up to the parameters, and its body.
std::string counterpart(const std::string& before, const std::string& parameters) {
  return before +
         " void __emulated_launch_k [[gnu::noinline]](const ::__emulated::ExecutionConfiguration& "
         "__emulated_configuration" +
         parameters + ")";
}
std::string launching(const std::string& types, const std::string& pointer, const std::string& arguments) {
  return " { ::__emulated::launch(__emulated_configuration, static_cast<void (*)(" + types + ")>(&" +
         pointer + ")" + arguments + "); }";
}
const std::string by_name = "__emulated_launch_k(::__emulated::ExecutionConfiguration(1, 32)";
const std::string of_any_file = " [[maybe_unused]] static";

TEST(Rewriter, KernelsThatALaunchDoesNotNameInFull) {
  const std::string launches = "void f() { k<<<1, 32>>>(p); }";
  const std::string launched = "void f() { " + by_name + ", p); }";
  const std::string kernel =
      "template <typename T, int n = 4>\n__global__ void __launch_bounds__(64) k(const T* in, // input\n T* "
      "out) {";
  const std::string bounded =
      kernel + "::__emulated::require_launch_bounds([] { return ::__emulated::Bounds(64); });}";
  const std::string deduced = counterpart(" template <typename T, int n = 4>", ", const T* in, T* out") +
                              launching("decltype(in), decltype(out)", "k<T, n>", ", in, out");
  const std::string pack =
      "template <class... Ts, template <class> class C> __global__ void k(C<Ts>... all) { f(); }";
  const std::string unnamed =
      "template <class T> requires A<T> __global__ void k(T*, unsigned long (&b)[2]);";
  const std::string of_unnamed =
      counterpart(" template <class T> requires A<T>", ", T* __emulated_0, unsigned long (&b )[2]");
  const std::string later = "template <typename U> __global__ void k(const U n, int) {}";
  const std::string again = "template <class T> __global__ void k(T* p, const int);";
  const std::string spelled = "template <typename U> __global__ void k(U* __restrict__ q, int n);";
  const std::string defaults =
      "__global__ void k(int* p, const int v[2] = A<B, C>::d, void (*)(int) = f(1, 2));";
  const std::string one = "__global__ void k(int* p) {}";
  const std::string other = "\n__global__ void k(float) noexcept {}";
  run({
      {"a template without arguments", kernel + "}\n" + launches, bounded + deduced + "\n" + launched},
      {"a template with some", kernel + "}\nns::k<float><<<1, 32>>> (p, q);",
       bounded + deduced +
           "\nns::__emulated_launch_k<float>(::__emulated::ExecutionConfiguration(1, 32) , p, q);"},
      {"a template with all", kernel + "}\nk<float, (1, 2)><<<1, 32>>>(p, q);",
       bounded + "\n" + launch + "k<float, (1, 2)>, 1, 32)(p, q);"},
      {"a pack, twice", pack + "\nk<<<1, 32>>>(p); k<<<1, 32>>>();",
       pack + counterpart(" template <class... Ts, template <class> class C>", ", C<Ts>... all") +
           launching("decltype(all)...", "k<Ts..., C>", ", all...") + "\n" + by_name + ", p); " + by_name +
           ");"},
      {"a template that is defined elsewhere", unnamed + launches,
       unnamed + of_unnamed + launching("decltype(__emulated_0), decltype(b)", "k<T>", ", __emulated_0, b") +
           launched},
      {"a template that is defined later", unnamed + launches + later,
       unnamed + of_unnamed + ";" + launched + later +
           counterpart(" template <typename U>", ", const U n, int __emulated_1") +
           launching("decltype(n), decltype(__emulated_1)", "k<U>", ", n, __emulated_1")},
      {"declarations that differ in words", again + spelled + launches,
       again + counterpart(" template <class T>", ", T* p, const int __emulated_1") + ";" + spelled +
           counterpart(" template <typename U>", ", U*              q, int n") +
           launching("decltype(q), decltype(n)", "k<U>", ", q, n") + launched},
      {"overloads", one + other + launches,
       one + counterpart(of_any_file, ", int* p") + launching("decltype(p)", "k", ", p") + other +
           counterpart(of_any_file, ", float __emulated_0") +
           launching("decltype(__emulated_0)", "k", ", __emulated_0") + launched},
      {"default arguments", defaults + "\nk<<<1, 32>>>(p, f(q, r)); k<<<1, 32>>>(p, q, r);",
       defaults +
           counterpart(of_any_file,
                       ", int* p, const int v [2] = A<B, C>::d, void (* __emulated_2 )(int) = f(1, 2)") +
           launching("decltype(p), decltype(v), decltype(__emulated_2)", "k", ", p, v, __emulated_2") + "\n" +
           by_name + ", p, f(q, r)); " + launch + "k, 1, 32)(p, q, r);"},
      {"a default argument, and the body elsewhere",
       "__global__ void k(unsigned = 1);\n__global__ void k(unsigned n) {}\nk<<<1, 32>>>( );",
       "__global__ void k(unsigned = 1);" + counterpart(of_any_file, ", unsigned __emulated_0 = 1") +
           ";\n__global__ void k(unsigned n) {}" + counterpart(of_any_file, ", unsigned n") +
           launching("decltype(n)", "k", ", n") + "\n" + by_name + " );"},
  });
  run(with_each(
      "@k<<<1, 32>>>(p)", "@" + launch + "k, 1, 32)(p)",
      {one, "__global__ void k(int*); " + one,
       "#if A\n" + one + "\n#else\n__global__ void k(int*) { }\n#endif\n",
       "namespace a { " + one + " } namespace b {" + other + " } using a::k; ",
       "template <typename T> void k(T* p) {}", "template <typename T, int> __global__ void k(T* p) {}",
       "template <> __global__ void k(int* p) {}", "template __global__ void k<int>(int* p);",
       "struct S { template <typename T> friend __global__ void k(T* p); };"}));
}

TEST(Rewriter, Assembly) {
  const auto known = [](const std::string& name) {
    return "static_assert(::__emulated::ptx::knows(\"" + name + "\"), \"asm: " + name +
           " is not modelled on the emulated device: write it in CUDA C++\"); ";
  };
  const auto operand = [](const std::string& constraint) {
    return "::__emulated::ptx_operand<" + constraint + ">";
  };
  const std::string call = "::__emulated::run_ptx(::__emulated::PtxText<";
  const std::string end = "); } while (false);";
  run({
      {"over lines",
       "__global__ void k() {\nasm volatile(\"{.reg .b32 %%r; @p \"\n\"ld.u8 %%r, [%0]; /* ; */ L: "
       "exit;}\"\n:\n: "
       "\"l\"(p[1]), \"n\" (2)\n: \"memory\",\n\"cc\");\n}",
       "__global__ void k() {\ndo { " + known("ld.u8") + known("exit") + call +
           " \"{.reg .b32 %%r; @p \"\n\"ld.u8 %%r, [%0]; /* ; */ L: exit;}\"\n>{}\n, " + operand("\"l\"") +
           "(p[1]), " + operand("\"n\" ") + "(2)\n \n" + end + "\n}"},
      {"of a macro", "#define F(t, x) asm(\"neg.\" #t \" %0, %0;\" \\\n: \"+r\"(x))\n",
       "#define F(t, x) do { " + call + "\"neg.\" #t \" %0, %0;\" \\\n>{}, " + operand("\"+r\"") +
           "(x)); } while (false)\n"},
      {"of the host", "void f() { asm(\"nop\"); asm volatile(\"pause\" ::: \"memory\"); }"},
  });
}

TEST(Rewriter, EverythingElseStays) {
  run({
      {"nothing", ""},
      {"no tokens", "\r\n\t x \\\r\n y \\ @ $ \xc3\xa9 } ) ] ( [ { ;"},
      {"a byte order mark", "\xef\xbb\xbf#define A\nk<<<1, 2>>>();", "#define A\n" + launch + "k, 1, 2)();"},
      {"a kernel",
       "template <typename T> __global__ void k(T* p) { p[threadIdx.x] <<= a < b > c; __syncthreads(); }\n"},
      {"a comment with a blank behind its backslash", "// \\ \n k<<<1, 2>>>(x)"},
      {"comments", "// k<<<1, 2>>>(x) __shared__ \\\n __shared__ int a;\n/* __shared__ k<<< \n \" ' */"},
      {"literals", R"(f("k<<<1, 2>>>(x) \" __shared__ int a;", '"', '\'', L'<', u8"\\", "a\)"
                   "\n b\");"},
      {"raw strings", "R\"x(__shared__ )\" <<< )x\"; LR\"a(\n\")a\" uR\"()\" UR\"(<<<)\"; __shared;"},
      {"numbers", "1'000'000 + 0x1'F + 1e+5 + 'a' + .5'5;"},
      {"other names", "int my__shared__x, __shared__y, x__shared__, __shared___;"},
      {"directives",
       "#pragma once\n#include <a<<<b>\n#include \"__shared__/*.h\"\n#error can't <<< __shared__ \\\n <<<\n"},
      {"directives that name it",
       "#ifndef __shared__\n#define __shared__\n#endif\n#undef __shared__\n#if defined(__shared__)\n#endif"},
      {"comments in directives",
       "#\n# /* a */ pragma k<<<  // __shared__ \\\n <<<\n#if 1 /* a\n */ <<<\n#endif"},
      {"macros",
       "#define URL \"http://<<<\"\n#define CHARACTER '\"'\n#define __shared__(x) x\n#define\n#define A("},
  });
  run(with_each("@R\"(\" <<< )\"", "", {"", "u8", "u", "U", "L"}));
}

}  // namespace
}  // namespace emulated_rewrite
