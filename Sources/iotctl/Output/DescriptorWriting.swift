import Foundation
import IoTCore

/// The reader of the pipe has closed it.
struct ReaderLeft: Error {}

/// Calls write(2) until everything is written.
enum DescriptorWriting {
    /// - Parameter name: the name of the target in messages.
    /// - Throws: `ReaderLeft` for a closed pipe, `.fileFailed` for everything else.
    static func write(_ bytes: [UInt8], to descriptor: Int32, name: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EPIPE: throw ReaderLeft()
            case EAGAIN:
                // Another program has made the terminal or the pipe non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            default: throw failure("\(name) cannot be written")
            }
        }
    }

    /// An error with the reason from errno(3).
    static func failure(_ what: String) -> IoTError {
        IoTError(.fileFailed, "\(what): \(String(cString: strerror(errno)))")
    }
}
