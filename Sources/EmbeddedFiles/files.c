#include "EmbeddedFiles.h"

// SwiftPM's .embedInCode makes an array literal of a file, for which the Swift compiler takes more than a minute.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi[] = {
#embed "../../docs/openapi.yaml"
};

static const unsigned char watch_page[] = {
#embed "../../docs/examples/watch.html"
};

EmbeddedFile embedded_openapi(void) { return (EmbeddedFile){openapi, sizeof openapi}; }

EmbeddedFile embedded_watch_page(void) { return (EmbeddedFile){watch_page, sizeof watch_page}; }
