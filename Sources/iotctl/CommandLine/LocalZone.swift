import Foundation

/// The user's time zone.
enum LocalZone {
    /// Its IANA name; `nil` if it has none, so that the daemon takes UTC.
    static var name: String? {
        let name = TimeZone.current.identifier
        return name.hasPrefix("GMT") ? nil : name
    }
}
