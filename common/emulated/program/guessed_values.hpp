#pragma once
#include <string>

#include "emulated/trace/trace_json.hpp"

namespace emulated_program {

/// What is in memory has no type here: as what it is written follows from its bits. Small integers are tiny numbers as
/// float, and usual floating-point numbers are huge as integers.
nlohmann::ordered_json guessed_value(const __emulated::Event& event,
                                     const __emulated::LaneEvent::Bytes& value);

/// The type of most values: "int32", "int64", "float32" or "float64".
std::string guessed_type(const __emulated::BlockTrace& trace);

}  // namespace emulated_program
