import ArgumentParser
import Firmware

/// `en=Faster start.`
struct DescriptionArgument: ExpressibleByArgument {
    let language: String
    let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, LocalizedText.isTag(String(parts[0])), !parts[1].isEmpty else { return nil }
        language = String(parts[0])
        text = String(parts[1])
    }
}
