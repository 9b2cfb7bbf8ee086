import EmbeddedFiles

extension EmbeddedFile {
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: size) }
}
