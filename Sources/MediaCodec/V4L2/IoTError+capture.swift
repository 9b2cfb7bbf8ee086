import CVideo4Linux
import IoTCore

/// An errno of a system call, with its description.
struct SystemCallError: Error, Equatable, CustomStringConvertible {
    let code: Int32

    var description: String { String(cString: strerror(code)) }
}

extension IoTError {
    /// Converts an errno of a capture device.
    ///
    /// - Parameter action: the failed action: "opening".
    static func capture(_ code: Int32, _ path: String, whileDoing action: String) -> IoTError {
        let cause = SystemCallError(code: code)
        switch code {
        case ENOENT, ENOTDIR:
            return IoTError(
                .sourceNotFound, "there is no device \(path)",
                remedy: "connect the camera; `ls -l /dev/v4l/by-id` lists the connected ones", underlying: cause)
        case EACCES, EPERM:
            return IoTError(.sourceForbidden, "the daemon may not open the device \(path)", underlying: cause)
        case EBUSY:
            return IoTError(.sourceBusy, "the device \(path) is in use", underlying: cause)
        case ENOTTY:
            return .notACaptureDevice(path, "it is not a V4L2 device", underlying: cause)
        case ENODEV, ENXIO, EIO, ESHUTDOWN:
            return IoTError(
                .sourceUnreachable, "the device \(path) was disconnected or has failed: \(cause)",
                remedy: "check its cable and power; the daemon opens it again automatically", underlying: cause)
        default:
            return IoTError(
                .sourceUnreachable, "\(action) the device \(path) failed: \(cause)",
                remedy: "read its driver's messages in the kernel's log: `dmesg`", underlying: cause)
        }
    }

    static func notACaptureDevice(_ path: String, _ reason: String, underlying: (any Error)? = nil) -> IoTError {
        IoTError(
            .sourceUnsupported, "\(path) is not a camera: \(reason)",
            remedy: "many cameras have several devices; use the one with a name in /dev/v4l/by-id that ends with "
                + "-video-index0", underlying: underlying)
    }
}
