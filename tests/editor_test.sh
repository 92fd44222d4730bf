#!/usr/bin/env bash
# What an editor needs: editor_test.sh REPOSITORY BUILD. The build says how its files are compiled, and .clangd names
# the folder of a preset.

set -euo pipefail
repository=$1
build=$2

fail() {
  echo "$1"
  exit 1
}

[[ -s $build/compile_commands.json ]] || fail "there is no $build/compile_commands.json"
grep -q '"file": ".*/00_cpu_serial/main.cpp"' "$build/compile_commands.json" ||
  fail "$build/compile_commands.json does not know 00_cpu_serial/main.cpp"
folder=$(sed -n 's/^ *CompilationDatabase: //p' "$repository/.clangd")
[[ -n $folder ]] || fail ".clangd names no folder"
grep -qF "\"binaryDir\": \"\${sourceDir}/$folder\"" "$repository/CMakePresets.json" ||
  fail ".clangd names '$folder', which is no preset's folder"
