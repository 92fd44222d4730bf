#pragma once
#include <link.h>

#include <vector>

namespace __emulated {

/// The program, which comes first, and the libraries that are loaded now. Thread-local storage is the calling host thread's.
inline std::vector<dl_phdr_info> loaded_objects() {
  std::vector<dl_phdr_info> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        static_cast<std::vector<dl_phdr_info>*>(found)->push_back(*object);
        return 0;
      },
      &objects);
  return objects;
}

}  // namespace __emulated
