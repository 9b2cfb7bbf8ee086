import Foundation
import Testing

/// zbarimg, an independent reader.
enum QRReader {
    /// The bytes of the only code in a picture.
    static func read(_ file: String) async throws -> String {
        let outcome = try await Program.named("zbarimg", ["--raw", "-q", "-Sbinary", file]).run()
        try #require(outcome.status == 0, "no code in \(file): \(outcome.errors)")
        return try #require(String(data: outcome.output, encoding: .utf8))
    }

    /// The modules that text of half blocks draws, row by row; true means light.
    static func modules(_ text: String) throws -> [[Bool]] {
        var rows: [[Bool]] = []
        for line in text.split(separator: "\n") {
            let halves = try line.map { character in
                switch character {
                case "█": (true, true)
                case "▀": (true, false)
                case "▄": (false, true)
                case " ": (false, false)
                default: throw Strange(character: character)
                }
            }
            rows.append(halves.map(\.0))
            rows.append(halves.map(\.1))
        }
        return rows
    }

    struct Strange: Error { let character: Character }

    /// The bytes that a camera in front of the terminal would read.
    static func read(modules: [[Bool]]) async throws -> String {
        let folder = try TemporaryFolder()
        let scale = 6
        let rows = modules.flatMap { row in
            Array(repeating: row.flatMap { Array(repeating: UInt8($0 ? 255 : 0), count: scale) }, count: scale)
        }
        // Netpbm's PGM. The margin has the terminal's background colour.
        var picture = Data("P5 \((modules.first?.count ?? 0) * scale) \(rows.count) 255\n".utf8)
        for row in rows { picture.append(contentsOf: row) }
        try picture.write(to: URL(fileURLWithPath: folder.path("terminal.pgm")))
        return try await read(folder.path("terminal.pgm"))
    }
}
