import Firmware
import IoTCore
import Testing

@Suite struct FirmwareDownloadTests {
    @Test("A download continues where it broke, and a new byte forgives earlier failures")
    func continues() {
        var download = FirmwareDownload(size: 1_000, have: 0)
        var pauses: [Duration?] = []
        for _ in 0..<3 { pauses.append(download.broke()) }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(download.received(400) && download.have == 400 && !download.isComplete)
        #expect(download.broke() == .seconds(1))
        #expect(download.received(600) && download.isComplete && download.percent == 90)
    }

    @Test("Eight connections without a new byte are the end")
    func givesUp() {
        var download = FirmwareDownload(size: 1_000, have: 10)
        for _ in 0..<7 { #expect(download.broke().map { $0 <= .seconds(60) } == true) }
        #expect(download.broke() == nil)
    }

    @Test("More bytes than the file has are refused, and a longer file from before is not continued")
    func tooMany() {
        var download = FirmwareDownload(size: 1_000, have: 999)
        #expect(!download.received(2) && download.have == 999)
        #expect(FirmwareDownload(size: 1_000, have: 1_001).have == 0)
        download.startOver()
        #expect(download.have == 0 && download.percent == 1)
        #expect(download.received(500) && download.percent == 45)
    }

    @Test("A bundle's header is read as it was written, and any other beginning is refused")
    func header() throws {
        let signed = try GoldenRelease.signed
        let header = BundleHeader(signed)
        #expect(try BundleHeader(beginning: header.bytes + GoldenRelease.file) == header)
        #expect(try BundleHeader(beginning: header.bytes).signed == signed)
        var others = [[], Array("iotvideod release 1".utf8), GoldenRelease.file, Array(header.bytes.dropLast())]
        for count in ["-1", "+295", "0295", "99999999", "", "1 2"] {
            others.append(Array("iotvideod release 1 \(count)\n".utf8) + signed.bytes + signed.signature)
        }
        for bytes in others {
            #expect(code { _ = try BundleHeader(beginning: bytes) } == .releaseManifestInvalid)
        }
    }

    @Test("A report is a number and a text on one line; anything else is none")
    func report() throws {
        let installed = try #require(UpgradeReport("100 0.2.0\n"))
        #expect(installed.number == UpgradeReport.installed && installed.text == "0.2.0")
        let failed = try #require(UpgradeReport("25150 it\u{1B}[2J did not start\nmore"))
        #expect(failed.number == 25150 && failed.text == "it[2J did not start")
        #expect(UpgradeReport("25150")?.text == "")
        for text in ["", "\n", "x", "99 x", "-1 x", "99999999999 x"] { #expect(UpgradeReport(text) == nil) }
    }
}
