import GatewayAPI
import Testing

@Suite struct SnapshotFormatTests {
    @Test(
        "A file name's extension selects the format",
        arguments: [
            ("a.jpg", .jpeg), ("a.b.JPEG", .jpeg), ("x.png", .png), ("x.gif", nil), ("jpg", nil),
        ] as [(String, SnapshotFormat?)])
    func endings(name: String, format: SnapshotFormat?) {
        #expect(SnapshotFormat(fileName: name) == format)
    }
}
