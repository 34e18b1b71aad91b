#include "HandshakeEmbeddedFiles.h"

/// Defines the function of the header that hands out an array.
#define EMBEDDED_BYTES(function, array) \
  struct EmbeddedFile function(void) { return (struct EmbeddedFile){array, sizeof array}; }
