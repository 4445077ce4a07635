/// Files that are part of the binary. No logic.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ferry_asset {
    /// The path in a request.
    const char *path;
    const uint8_t *bytes;
    size_t count;
};

extern const struct ferry_asset *const ferry_page_assets;
extern const size_t ferry_page_asset_count;
extern const struct ferry_asset ferry_openapi_document;
