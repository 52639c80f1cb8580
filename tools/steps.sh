# Sourced by the scripts of this folder: goes to the root of the repository and prints each step
# with the seconds since the start.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# What one clone has compiled, another one on the machine takes from the cache.
export CCACHE_BASEDIR="${PWD}" CCACHE_NOHASHDIR=1

say() { printf '[%4ds] %s\n' "${SECONDS}" "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The comment at the head of the script is its help.
print_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

# One job per processor, but no more than one for every 1.5 GB: a gRPC file takes up to 1 GB.
job_count() {
  local processors memory_kb by_memory
  processors="$(nproc)"
  memory_kb="$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)"
  by_memory=$((memory_kb / 1500000))
  if ((by_memory < 1)); then by_memory=1; fi
  echo $((processors < by_memory ? processors : by_memory))
}
