import Foundation

/// The output of `strace -f -y -o FILE`, call by call.
struct SystemCallTrace {
    struct Call {
        let name: Substring
        /// The whole line, or its first half if another thread's call interrupts it.
        let text: Substring
        /// The lines on which it began and returned.
        let begin: Int
        var end: Int?
        var result: Substring?

        /// Whether it returned 0 before line `line`.
        func succeeded(before line: Int) -> Bool {
            result == "0" && end.map { $0 < line } == true
        }
    }

    private(set) var calls: [Call] = []

    init(file: String) throws {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        var unfinished: [Substring: Int] = [:]
        for (number, line) in lines.enumerated() {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { continue }
            let text = words[1].drop { $0 == " " }
            let result = line.range(of: " = ", options: .backwards).map { line[$0.upperBound...] }
            if text.hasPrefix("<... ") {
                guard let index = unfinished.removeValue(forKey: words[0]) else { continue }
                calls[index].end = number
                calls[index].result = result
            } else if let name = text.firstMatch(of: #/^([a-z0-9_]+)\(/#) {
                let isWhole = !line.hasSuffix("<unfinished ...>")
                if !isWhole { unfinished[words[0]] = calls.count }
                calls.append(
                    Call(
                        name: name.1, text: text, begin: number, end: isWhole ? number : nil,
                        result: isWhole ? result : nil))
            }
        }
    }
}
