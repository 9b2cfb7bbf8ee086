#ifndef EMBEDDED_FILES_H
#define EMBEDDED_FILES_H

#include <stddef.h>

/// A file of the source tree that the program contains. The bytes exist as long as the program.
typedef struct {
    const unsigned char *_Nonnull bytes;
    size_t size;
} EmbeddedFile;

/// docs/openapi.yaml
EmbeddedFile embedded_openapi(void);
/// docs/examples/watch.html
EmbeddedFile embedded_watch_page(void);

#endif
