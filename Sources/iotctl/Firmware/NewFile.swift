import Foundation
import IoTCore

/// Writes files that must not replace others.
enum NewFile {
    /// - Throws: `.fileFailed`, also if there is such a file.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw DescriptorWriting.failure("\(path) cannot be written") }
            throw IoTError(.fileFailed, "\(path) exists already", remedy: "choose another name, or move it away")
        }
        defer { close(descriptor) }
        try DescriptorWriting.write(bytes, to: descriptor, name: path)
        guard fsync(descriptor) == 0 else { throw DescriptorWriting.failure("\(path) cannot be written") }
    }
}
