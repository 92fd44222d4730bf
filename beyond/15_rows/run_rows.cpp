#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "harness/exit_code.hpp"
#include "harness/report.hpp"
#include "harness/result_json.hpp"
#include "harness/sampling.hpp"
#include "harness/units.hpp"
#include "harness/version.hpp"
#include "rows.hpp"

namespace reduction {

namespace {

/// Some of a step's options, and the shape.
struct CommandLine : Options {
  std::optional<std::uint64_t> rows, width, stride;
  std::string operation = "sum";
  std::string kernel;  ///< empty: all
  bool sweep_width = false;
};

Reader<std::string> one_of_names(const std::set<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& name : names)
    pairs.emplace_back(name, name);
  return one_of(pairs);
}

CommandLine parse(int argc, char** argv, const RowStep& step) {
  std::set<std::string> operations, names;
  for (const RowKernel& kernel : step.cuda != nullptr ? *step.cuda : *step.emulated) {
    operations.emplace(kernel.operation);
    names.emplace(kernel.name);
  }
  CommandLine line;
  OptionParser app(std::string(step.name),
                   fmt::format("Beyond the ladder: {}, by all kernels of an operation.", step.title));
  app.add_version();
  app.add("-o,--operation", "NAME", "sum (default), max, argmax, variance or softmax", line.operation,
          one_of_names(operations));
  app.add("-k,--kernel", "NAME", "the only one, as warp; default all", line.kernel, one_of_names(names));
  app.add("-n,--elements", "COUNT", "rows times width, if --rows is not given; default 2^28, emulated 2^20",
          line.elements, elements_reader());
  app.add("-w,--width", "COUNT", "elements of a row; default 1024", line.width, elements_reader());
  app.add("-r,--rows", "COUNT", "how many; default as many as --elements are", line.rows, elements_reader());
  app.add("--stride", "COUNT", "elements from row to row; default the width", line.stride, elements_reader());
  app.add("--sweep", "width", "every power of two from 16 to 2^20 as width", line.sweep_width,
          one_of<bool>({{"width", true}}));
  app.add("-s,--samples", "COUNT", "timed runs of each; default until they agree", line.samples,
          samples_reader());
  app.add("--device", "DEVICE", "auto (default), cuda, cuda:N or emulated", line.device, device_reader());
  app.add_file("--json", "also write the results there; - for stdout", line.json_file);
  app.add_flag("-q,--quiet", "print the rows of the table only", line.quiet);
  line.answer = app.read(argc, argv);
  if (line.sweep_width && (line.rows || line.width || line.stride))
    throw UsageError("--sweep width: give --elements in place of --rows, --width and --stride");
  if (line.rows && line.elements) throw UsageError("--rows, --elements: give one of them");
  if (line.stride && *line.stride < line.width.value_or(1024))
    throw UsageError("--stride: give the width or more");
  return line;
}

std::vector<Matrix> matrices(const CommandLine& line, DeviceKind kind) {
  const std::uint64_t elements =
      line.elements.value_or(std::uint64_t{1} << (kind == DeviceKind::cuda ? 28 : 20));
  const auto matrix = [&](std::uint64_t width) {
    if (!line.rows && width > elements)
      throw UsageError(fmt::format("--elements: give {} or more, the width, or --rows", width));
    const std::uint64_t rows = line.rows.value_or(elements / std::max<std::uint64_t>(width, 1));
    const std::uint64_t stride = line.stride.value_or(width);
    if (stride > 0 && rows > (std::uint64_t{1} << 48) / stride)
      throw UsageError("--rows: give at most 2^48 elements in all");
    return Matrix{rows, width, stride};
  };
  if (!line.sweep_width) return {matrix(line.width.value_or(1024))};
  std::vector<Matrix> all;
  for (std::uint64_t width = 16; width <= std::min<std::uint64_t>(elements, 1 << 20); width *= 2)
    all.push_back(matrix(width));
  return all;
}

/// What was measured of one kernel.
struct Measured {
  std::vector<__emulated::Counters> launches;
  std::optional<Summary> ms;
  double gbps = 0;  ///< of each element once and each result once
  std::size_t samples = 0;
  std::string wrong;  ///< empty: the results are right
};

class Measurement {
 public:
  Measurement(Device& device, const Matrix& matrix, const CommandLine& line)
      : device_(device),
        matrix_(matrix),
        input_{Data::random, line.seed, matrix.elements()},
        samples_(line.samples),
        in_(device, input_.n * sizeof(float)),
        timer_(device.make_timer(line.timing)) {
    device.fill(in_.data(), input_, ElementType::float32, 0, input_.n);
  }

  Measured measure(const RowKernel& kernel) {
    const std::size_t bytes = kernel.results(matrix_) * kernel.result_bytes;
    const DeviceBuffer out(device_, bytes);
    const auto launch = [&] { kernel.launch(static_cast<const float*>(in_.data()), out.data(), matrix_); };
    const auto check = [&] {
      std::vector<std::byte> found(bytes);
      device_.download(found.data(), out.data(), bytes);
      return check_of(kernel)(kernel, found.data());
    };
    Measured measured;
    device_.poison(out.data(), bytes);
    measured.launches = device_.counters_of(launch);
    measured.wrong = check();
    if (timer_ == nullptr || !measured.wrong.empty()) return measured;
    for (unsigned run = 0; run < TimingMethod{}.warm_up_runs; ++run)
      launch();
    const std::vector<double> ms = take_samples(samples_, [&] {
      return take_queued_sample([&] {
        device_.poison(out.data(), bytes);
        timer_->start();
        launch();
        return timer_->stop();
      });
    });
    measured.ms = summarise(ms);
    measured.samples = ms.size();
    measured.wrong = check();
    const std::size_t moved = matrix_.rows * matrix_.width * sizeof(float) + bytes;
    measured.gbps = static_cast<double>(moved) / measured.ms->median / 1e6;
    require_possible(measured.gbps, device_.info());
    return measured;
  }

 private:
  /// Made once for all kernels that leave the same.
  const RowCheck& check_of(const RowKernel& kernel) {
    RowCheck& check = kernel.of_columns() ? of_columns_ : of_rows_;
    const auto element = [this](std::size_t row, std::size_t i) {
      return real_at<float>(input_, row * matrix_.stride + i, 0, 1);
    };
    if (!check) check = make_row_check(kernel, matrix_, element);
    return check;
  }

  Device& device_;
  Matrix matrix_;
  Input input_;
  std::optional<std::size_t> samples_;
  DeviceBuffer in_;
  std::unique_ptr<SampleTimer> timer_;
  RowCheck of_rows_, of_columns_;
};

constexpr const char* on_gpu = "{:<9} {:>9} {:>8} {:>9} {:>8} {:>6}\n";
constexpr const char* emulated_row = "{:<9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>6} {:>9} {:>9} {:>9}\n";

std::string heading(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return fmt::format(on_gpu, "kernel", "rows", "width", "ms", "GB/s", "peak");
  return fmt::format(emulated_row, "kernel", "rows", "width", "launches", "blocks", "loads", "lanes",
                     "sectors", "shuffles", "barriers");
}

std::string row_text(const RowKernel& kernel, const Matrix& matrix, const Measured& measured,
                     const DeviceInfo& device) {
  const std::string rows = count_text(matrix.rows), width = count_text(matrix.width);
  if (measured.ms) {
    const std::string peak =
        device.peak_gbps ? fmt::format("{:.1f} %", measured.gbps / *device.peak_gbps * 100) : "–";
    return fmt::format(on_gpu, kernel.name, rows, width, or_dash(measured.ms->median, 4),
                       or_dash(measured.gbps, 1), peak);
  }
  __emulated::Counters sum;
  for (const __emulated::Counters& launch : measured.launches)
    sum += launch;
  const double lanes = static_cast<double>(sum.global_load_lanes) /
                       static_cast<double>(std::max<std::uint64_t>(sum.global_load_requests, 1));
  return fmt::format(emulated_row, kernel.name, rows, width, measured.launches.size(), sum.blocks,
                     sum.global_load_requests, fmt::format("{:.1f}", lanes), sum.global_load_sectors,
                     sum.shuffles, sum.block_barriers);
}

ExitCode run(const RowStep& step, const CommandLine& line) {
  OutputFile json_file(line.json_file);
  std::FILE* const out = json_file.is_stdout() ? stderr : stdout;
  const ChosenDevice chosen = choose_device(line.device);
  const std::unique_ptr<Device> device =
      chosen.kind == DeviceKind::cuda ? open_cuda_device(chosen.ordinal) : open_emulated_device();
  if (!line.quiet) {
    print(out, fmt::format("{} on {}\n{}{}\n", line.operation, device_text(device->info()), chosen.note,
                           chosen.note.empty() ? "" : "\n"));
    print(out, heading(device->info().kind));
  }
  ExitCode code = ExitCode::verified;
  auto results = nlohmann::ordered_json::array();
  for (const Matrix& matrix : matrices(line, device->info().kind)) {
    // Twice the input for a softmax.
    require_memory(matrix.elements(), ElementType::float32,
                   matrix.elements() * sizeof(float) + matrix.rows * matrix.width * sizeof(float),
                   device->memory());
    Measurement measurement(*device, matrix, line);
    for (const RowKernel& kernel : chosen.kind == DeviceKind::cuda ? *step.cuda : *step.emulated) {
      if (kernel.operation != line.operation) continue;
      if (matrix.width > kernel.most_width || matrix.elements() > kernel.most_elements) continue;
      if (!line.kernel.empty() && kernel.name != line.kernel) continue;
      const bool is_of_library = kernel.name == "CUB" || kernel.name == "header";
      if (is_of_library && matrix.elements() == 0) continue;  // it leaves something else of nothing
      const Measured measured = measurement.measure(kernel);
      if (measured.wrong.empty()) {
        print(out, row_text(kernel, matrix, measured, device->info()));
      } else {
        code = ExitCode::wrong_result;
        print(stderr, fmt::format("{}: {} by {}: WRONG: {}\n", step.name, kernel.operation, kernel.name,
                                  measured.wrong));
      }
      results.push_back({{"operation", kernel.operation},
                         {"kernel", kernel.name},
                         {"rows", matrix.rows},
                         {"width", matrix.width},
                         {"stride", matrix.stride},
                         {"samples", measured.samples},
                         {"ms", measured.ms},
                         {"gbps", measured.gbps},
                         {"verified", measured.wrong.empty()},
                         {"device", device->info()},
                         {"timing", line.timing},
                         {"version", version}});
      json_file.keep(results.dump(2) + '\n');
    }
  }
  if (results.empty())
    throw UsageError(
        fmt::format("no kernel for {} takes this: see --kernel, --rows and --width", line.operation));
  json_file.write(results.dump(2) + '\n');
  return code;
}

}  // namespace

int run_rows(const RowStep& step, int argc, char** argv) {
  return exit_code_of(step.name, [&] {
    const CommandLine line = parse(argc, argv, step);
    if (line.answer.empty()) return run(step, line);
    print(stdout, line.answer);
    return ExitCode::verified;
  });
}

}  // namespace reduction
