/// Whether a file's name says what `iotctl monitor` is to write into it.
enum MediaFileName {
    /// Why the name does not fit; `nil` when it does. Pipes (`/dev/fd/63`, `-`) have no ending.
    static func refusal(of name: String, for option: String, writes format: String, endings: [String]) -> String? {
        let last = name.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return nil }
        let ending = last[dot...].lowercased()
        guard !endings.contains(ending) else { return nil }
        return "\(option) writes \(format), not '\(ending)': let the name end in \(endings.joined(separator: " or "))"
    }
}
