import Foundation
import TestSupport
import Testing

/// What zbarimg, a reader of other people's, finds in a PNG: the exact bytes.
func scan(_ png: [UInt8], arguments: [String] = ["--raw", "-q", "-Sbinary"]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("qr-\(UUID().uuidString).png")
    try Data(png).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["zbarimg"] + arguments + [file.path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.start()
    let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "zbarimg is missing (apt-get install zbar-tools) or found no code")
    return bytes
}
