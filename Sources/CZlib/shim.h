#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

// zlib's call that begins a stream is a macro, which Swift does not import.

/// The most bytes that the gzip form of so many bytes has.
static inline size_t ferry_gzip_bound(size_t count) { return compressBound(count) + 32; }

/// Writes the gzip form (RFC 1952) of bytes. Returns its size; 0 if there is not enough memory.
static inline size_t ferry_gzip(const uint8_t *bytes, size_t count, int level, uint8_t *room, size_t size) {
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = room;
    stream.avail_out = (uInt)size;
    int result = deflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : 0;
}
