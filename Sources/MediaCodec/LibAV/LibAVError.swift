import CFFmpeg
import IoTCore

/// A negative return value of libav, with its description.
struct LibAVError: Error, CustomStringConvertible {
    let code: Int32

    init(_ code: Int32) {
        self.code = code
    }

    static var endOfFile: Int32 { cffmpeg_error_end_of_file() }
    static var invalidData: Int32 { cffmpeg_error_invalid_data() }
    static var interrupted: Int32 { cffmpeg_error_exit() }
    static var again: Int32 { cffmpeg_error(EAGAIN) }
    static var outOfMemory: Int32 { cffmpeg_error(ENOMEM) }

    var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, av_strerror(code, base, buffer.count) == 0 else {
                return "libav error \(code)"
            }
            return String(cString: base)
        }
    }
}

extension IoTError {
    /// libav could not allocate memory.
    static func outOfMemory() -> IoTError {
        IoTError(
            .mediaFailed, "there is not enough memory to process media",
            remedy: "close other programs or use fewer channels")
    }
}
