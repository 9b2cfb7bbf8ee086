import Firmware
import Foundation

/// The language of the user's messages (locale(7)).
enum UserLanguage {
    /// `de-AT` for `de_AT.UTF-8`; `nil` for the locale C, or if there is none.
    static func tag(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
        guard let locale = names.first(where: { !$0.isEmpty }) else { return nil }
        let tag = locale.prefix { $0 != "." && $0 != "@" }.replacing("_", with: "-")
        return tag != "POSIX" && LocalizedText.isTag(String(tag)) ? String(tag) : nil
    }
}
