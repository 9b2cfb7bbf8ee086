/// Checks that the ending of a file's name fits the format that is written.
enum MediaFileName {
    /// The reason why the name does not fit; `nil` if it does. Names without an ending fit, for example pipes
    /// (`/dev/fd/63`, `-`).
    static func refusal(of name: String, for option: String, writes format: String, endings: [String]) -> String? {
        let last = name.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return nil }
        let ending = last[dot...].lowercased()
        guard !endings.contains(ending) else { return nil }
        return
            "\(option) writes \(format), not '\(ending)': use a name that ends in \(endings.joined(separator: " or "))"
    }
}
