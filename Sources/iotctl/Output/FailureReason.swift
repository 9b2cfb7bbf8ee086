import Foundation

/// The system's reason for a file error of Foundation.
enum FailureReason {
    /// Foundation's own text begins with "The operation could not be completed".
    static func of(_ error: any Error) -> String {
        let below = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error ?? error
        if let error = below as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        let code = below as NSError
        return code.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(code.code))) : code.localizedDescription
    }
}
