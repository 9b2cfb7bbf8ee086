import Foundation

/// Describes why a file could not be used.
enum FileReason {
    static func describe(_ error: any Error) -> String {
        let error = error as NSError
        if let below = error.userInfo[NSUnderlyingErrorKey] as? NSError, below.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(below.code)))
        }
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: return "there is no such file"
        case .fileReadNoPermission: return "permission denied"
        default: return error.localizedDescription
        }
    }
}
