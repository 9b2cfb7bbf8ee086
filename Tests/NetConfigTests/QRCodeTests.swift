import IoTCore
import NetConfig
import Testing

@Suite struct QRCodeTests {
    // ISO/IEC 18004 table 7: what byte mode holds at level M.
    @Test(
        "The smallest version that holds the bytes is used",
        arguments: [
            (14, 1), (15, 2), (26, 2), (84, 5), (85, 6), (106, 6), (152, 8), (213, 10), (214, 11), (2331, 40),
        ])
    func versions(byteCount: Int, version: Int) throws {
        let code = try QRCode([UInt8](repeating: 0x61, count: byteCount))
        #expect(code.version == version)
        #expect(code.width == 17 + 4 * version)
    }

    @Test("More than version 40 holds is 25013; nothing at all is 25012")
    func limits() throws {
        let tooMuch = try #require(throws: IoTError.self) { _ = try QRCode([UInt8](repeating: 0, count: 2332)) }
        #expect(tooMuch.code == .payloadTooLarge)
        let nothing = try #require(throws: IoTError.self) { _ = try QRCode([]) }
        #expect(nothing.code == .invalidQRInput)
    }

    @Test("Level M is written in the format information")
    func errorCorrection() throws {
        // ISO/IEC 18004 §7.9: the first two bits at row 8, masked with 10 of 101010000010010; M is 00.
        let code = try QRCode(Array("level".utf8))
        #expect(code.isDark(row: 8, column: 0) == true)
        #expect(code.isDark(row: 8, column: 1) == false)
    }

    @Test(
        "A picture has exactly the size asked for, and its quiet zone is four modules or more",
        arguments: [29, 30, 100, 255, 800, 1024])
    func pictureSize(size: Int) throws {
        let code = try QRCode(Array("HELLO".utf8))
        let png = try code.png(size: size)
        #expect(Array(png.prefix(8)) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let side = { (at: Int) in png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        #expect(side(16) == size)
        #expect(side(20) == size)
        #expect((size - code.width * code.moduleSize(inPictureOf: size)) / 2 >= 4 * code.moduleSize(inPictureOf: size))
    }

    @Test(
        "A picture too small for the code, or too large to be meant, is 25012", arguments: [-1, 0, 28, 4097, Int.max])
    func wrongSize(size: Int) throws {
        let error = try #require(throws: IoTError.self) { _ = try QRCode(Array("HELLO".utf8)).png(size: size) }
        #expect(error.code == .invalidQRInput)
        #expect(error.message.hasPrefix("size"))
    }

    @Test("Every byte comes back from another's reader, also 0 and what is no UTF-8")
    func allBytes() throws {
        let bytes = (0...255).map { UInt8($0) }
        #expect(try scan(QRCode(bytes).png(size: 800)) == bytes)
    }

    @Test("The terminal's blocks are the code's modules, light drawn and dark left blank")
    func terminal() throws {
        let code = try QRCode(Array("HELLO".utf8))
        let lines = code.terminalText().split(separator: "\n").map(Array.init)
        #expect(lines.count == (code.widthWithQuietZone + 1) / 2)
        var modules: [[Bool]] = []
        for line in lines {
            #expect(line.count == code.widthWithQuietZone)
            modules.append(line.map { $0 == " " || $0 == "▄" })
            modules.append(line.map { $0 == " " || $0 == "▀" })
        }
        for row in 0..<code.widthWithQuietZone {
            for column in 0..<code.widthWithQuietZone {
                #expect(modules[row][column] == code.isDark(row: row - 4, column: column - 4))
            }
        }
    }

    @Test("With colours each line sets and resets them")
    func colours() throws {
        let code = try QRCode(Array("HELLO".utf8))
        let lines = code.terminalText(colours: true).split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[38;5;231;48;5;16m") && $0.hasSuffix("\u{1B}[0m") })
    }
}
