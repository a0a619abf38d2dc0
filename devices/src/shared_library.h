#pragma once

#include <dlfcn.h>
#include <link.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace palpate {

/// A vendor's library, if it is on this computer. Its functions are looked up by name; nothing of it is needed to
/// build.
class SharedLibrary {
 public:
  /// The first of `names` that can be loaded; a name with a slash is a path.
  explicit SharedLibrary(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) return;
      if (error_.empty()) error_ = ::dlerror();
    }
  }
  ~SharedLibrary() {
    if (handle_) ::dlclose(handle_);
  }
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  bool is_open() const noexcept { return handle_ != nullptr; }
  const std::string& error() const noexcept { return error_; }
  /// Where it was found.
  std::string path() const {
    link_map* map = nullptr;
    return handle_ && ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
  }

  /// Null, and missing() is its name, if the library has no such function.
  template <typename Function>
  void find(const char* name, Function*& function) {
    function = handle_ ? reinterpret_cast<Function*>(::dlsym(handle_, name)) : nullptr;
    if (!function && missing_.empty()) missing_ = name;
  }
  /// Like find(), of a function that need not be there.
  template <typename Function>
  void find_optional(const char* name, Function*& function) {
    function = handle_ ? reinterpret_cast<Function*>(::dlsym(handle_, name)) : nullptr;
  }
  const std::string& missing() const noexcept { return missing_; }

 private:
  void* handle_ = nullptr;
  std::string error_;
  std::string missing_;
};

}  // namespace palpate
