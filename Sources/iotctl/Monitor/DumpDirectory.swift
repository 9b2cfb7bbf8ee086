import Foundation
import IoTCore

/// The directory of a dump.
enum DumpDirectory {
    /// Creates it with mode 0700, unless it exists.
    static func create(_ path: String) throws(IoTError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw DescriptorWriting.failure("the directory \(path) cannot be created")
    }
}
