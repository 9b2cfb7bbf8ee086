import Foundation
import IoTCore

/// Nobody reads the pipe any more.
struct ReaderLeft: Error {}

/// write(2) until the system has taken everything.
enum DescriptorWriting {
    /// - Parameter name: how messages name what is written to.
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
                // A terminal or a pipe that another program has made non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            default: throw failure("\(name) cannot be written")
            }
        }
    }

    /// With the reason that errno(3) has.
    static func failure(_ what: String) -> IoTError {
        IoTError(.fileFailed, "\(what): \(String(cString: strerror(errno)))")
    }
}
