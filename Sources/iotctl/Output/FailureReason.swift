import Foundation

/// Why Foundation could not do something with a file, as the system says it.
enum FailureReason {
    /// Its own text begins with "The operation could not be completed".
    static func of(_ error: any Error) -> String {
        let below = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error ?? error
        if let error = below as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        let code = below as NSError
        return code.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(code.code))) : code.localizedDescription
    }
}
