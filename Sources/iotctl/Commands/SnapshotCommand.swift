import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Write a camera's newest picture as a JPEG.",
        discussion: """
            Uses the picture that the daemon has of the camera, or connects to a camera of
            another gateway. The picture keeps its proportions and is never enlarged.

            EXAMPLES
              iotctl snapshot front front.jpg
              iotctl snapshot front small.jpg --size 640
              iotctl snapshot front - --size 320x240 > front.jpg
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Argument(help: "Where to write it (.jpg); - is standard output.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("A width such as 640, or a maximum size such as 640x360.", valueName: "size"))
    var size: String?

    @OptionGroup var options: GlobalOptions

    struct Outcome: Encodable {
        var file: String
        var bytes: Int
        /// µs on the source's clock.
        var pts: Int64?
    }

    static func checkFile(_ file: String) throws {
        let refusal = MediaFileName.refusal(of: file, for: "this", writes: "JPEG", endings: [".jpg", ".jpeg"])
        if let refusal { throw ValidationError(refusal) }
    }

    static func checkSize(_ size: String?) throws {
        guard size.map({ PictureBounds($0) != nil }) ?? true else {
            let range = PictureBounds.range
            throw ValidationError(
                "--size is a width such as 640, or a maximum size such as 640x360; from \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
    }

    func validate() throws {
        try Self.checkFile(file)
        try Self.checkSize(size)
    }

    func run() async throws {
        let (headers, bytes) = try await options.withClient {
            try await $0.bytes(APIPath("v1", "devices", device, "snapshot", query: ["size": size]))
        }
        let output = try await FileOutput.open(file)
        try await output.write(bytes)
        try await output.close()
        if file == "-" { return }
        let pts = headers.first(name: APIHeader.pts).flatMap { Int64($0) }
        if options.json { return try Console.printJSON(Outcome(file: file, bytes: bytes.count, pts: pts)) }
        try Console.print("\(file): \(Format.size(bytes.count))")
    }
}
