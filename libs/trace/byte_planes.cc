#include "libs/trace/byte_planes.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "libs/base/str_cat.h"
#include "libs/trace/little_endian.h"

namespace nanolane::trace {
namespace {

// Stored numbers: never change.
enum class PlaneMethod : uint8_t { kConstant = 0, kRaw = 1, kZstd = 2 };

constexpr int kZstdLevel = 1;
// A residual's rest has at most 48 bits: seven varint bytes.
constexpr size_t kMaxVarintBytes = 7;

// One context per thread: making one costs more than packing a plane.
struct ZstdContexts {
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> compress{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> decompress{ZSTD_createDCtx(), ZSTD_freeDCtx};
};

ZstdContexts& Contexts() {
  thread_local ZstdContexts contexts;
  return contexts;
}

void AppendPlane(std::string_view plane, std::string& out) {
  const bool constant =
      std::all_of(plane.begin(), plane.end(), [&](char c) { return c == plane.front(); });
  if (constant) {
    out.push_back(static_cast<char>(PlaneMethod::kConstant));
    AppendLittle<uint32_t>(out, static_cast<uint32_t>(plane.size()));
    out.push_back(plane.front());
    return;
  }
  // The stored size is patched in: a compressed plane carries its own length.
  const size_t head = out.size();
  out.push_back(static_cast<char>(PlaneMethod::kZstd));
  AppendLittle<uint32_t>(out, 0);
  const size_t body = out.size();
  out.resize(body + ZSTD_compressBound(plane.size()));
  const size_t packed =
      ZSTD_compressCCtx(Contexts().compress.get(), out.data() + body, out.size() - body,
                        plane.data(), plane.size(), kZstdLevel);
  if (ZSTD_isError(packed) != 0 || packed >= plane.size()) {
    out.resize(body);
    out[head] = static_cast<char>(PlaneMethod::kRaw);
    out.append(plane);
    PutLittle<uint32_t>(&out[head + 1], static_cast<uint32_t>(plane.size()));
    return;
  }
  out.resize(body + packed);
  PutLittle<uint32_t>(&out[head + 1], static_cast<uint32_t>(packed));
}

absl::Status Malformed(std::string_view what) {
  return absl::DataLossError(base::StrCat("corrupt block: ", what));
}

// Reads one plane into `plane`, whose size is an upper bound; `size` is what there was. With
// `exact` anything but plane.size() bytes is malformed.
absl::Status ReadPlane(ByteCursor& cursor, std::span<char> plane, bool exact, size_t& size) {
  uint8_t method = 0;
  uint32_t stored = 0;
  if (!cursor.Read(method) || !cursor.Read(stored)) return Malformed("a plane is cut short");
  if (method == static_cast<uint8_t>(PlaneMethod::kConstant)) {
    char value = 0;
    if (!cursor.Read(value) || stored > plane.size()) return Malformed("a constant plane is wrong");
    std::fill_n(plane.begin(), stored, value);
    size = stored;
  } else {
    std::string_view bytes;
    if (!cursor.ReadBytes(stored, bytes)) return Malformed("a plane is cut short");
    if (method == static_cast<uint8_t>(PlaneMethod::kRaw)) {
      if (bytes.size() > plane.size()) return Malformed("a raw plane is too long");
      std::copy(bytes.begin(), bytes.end(), plane.begin());
      size = bytes.size();
    } else if (method == static_cast<uint8_t>(PlaneMethod::kZstd)) {
      size = ZSTD_decompressDCtx(Contexts().decompress.get(), plane.data(), plane.size(),
                                 bytes.data(), bytes.size());
      if (ZSTD_isError(size) != 0) return Malformed("a plane does not decompress");
    } else {
      return Malformed("a plane has an unknown method");
    }
  }
  if (exact && size != plane.size()) return Malformed("a plane has the wrong length");
  return absl::OkStatus();
}

void AppendVarint(std::vector<char>& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

absl::Status AddRest(std::string_view varints, std::span<uint64_t> residuals) {
  size_t at = 0;
  for (uint64_t& residual : residuals) {
    uint64_t rest = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == varints.size() || shift >= 7 * kMaxVarintBytes) {
        return Malformed("a varint is cut short");
      }
      const auto byte = static_cast<uint8_t>(varints[at++]);
      rest |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    residual |= rest << 16;
  }
  if (at != varints.size()) return Malformed("bytes follow the last varint");
  return absl::OkStatus();
}

}  // namespace

void PackPlanes(std::span<const uint64_t> residuals, std::string& out) {
  uint64_t all = 0;
  for (const uint64_t residual : residuals) all |= residual;
  const int planes = all == 0 ? 0 : all < 0x100 ? 1 : all < 0x10000 ? 2 : 3;
  out.push_back(static_cast<char>(planes));
  std::string plane(residuals.size(), '\0');
  for (int byte = 0; byte < std::min(planes, 2); ++byte) {
    for (size_t i = 0; i < residuals.size(); ++i) {
      plane[i] = static_cast<char>(residuals[i] >> (8 * byte));
    }
    AppendPlane(plane, out);
  }
  if (planes == 3) {
    std::vector<char> rest;
    rest.reserve(residuals.size() * 2);
    for (const uint64_t residual : residuals) AppendVarint(rest, residual >> 16);
    AppendPlane({rest.data(), rest.size()}, out);
  }
}

absl::Status UnpackPlanes(std::string_view packed, std::span<uint64_t> residuals) {
  ByteCursor cursor(packed);
  uint8_t planes = 0;
  if (!cursor.Read(planes) || planes > 3) return Malformed("a column has a wrong number of planes");
  std::fill(residuals.begin(), residuals.end(), 0);
  thread_local std::vector<char> plane;
  plane.resize(residuals.size() * (planes == 3 ? kMaxVarintBytes : 1));
  size_t size = 0;
  for (int byte = 0; byte < std::min<int>(planes, 2); ++byte) {
    const std::span<char> bytes(plane.data(), residuals.size());
    if (absl::Status read = ReadPlane(cursor, bytes, /*exact=*/true, size); !read.ok()) return read;
    for (size_t i = 0; i < residuals.size(); ++i) {
      residuals[i] |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * byte);
    }
  }
  if (planes == 3) {
    if (absl::Status read = ReadPlane(cursor, plane, /*exact=*/false, size); !read.ok())
      return read;
    if (absl::Status added = AddRest({plane.data(), size}, residuals); !added.ok()) return added;
  }
  if (!cursor.empty()) return Malformed("bytes follow the last plane");
  return absl::OkStatus();
}

}  // namespace nanolane::trace
