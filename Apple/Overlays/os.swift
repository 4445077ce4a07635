// What `import os` brings of the C library.
@_exported import Darwin
