import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

/// The source of a new camera: a URL, or an ONVIF camera that returns its URL.
struct AddedSourceOptions: ParsableArguments {
    enum Stream: String, ExpressibleByArgument, CaseIterable {
        case main, sub
    }

    @Argument(
        help: "rtsp[s]://…, v4l2:/dev/…, or a file, played in a loop; ./a:b for one with a colon in its name.",
        completion: .file())
    var url: String?

    @Option(help: ArgumentHelp("Ask this ONVIF camera for its RTSP address.", valueName: "url"))
    var onvif: String?

    @Option(help: "With --onvif: main, the largest picture, or sub, the smallest. (default: main)")
    var stream: Stream?

    @OptionGroup var login: CameraLogin

    func validate() throws {
        guard (url == nil) != (onvif == nil) else { throw ValidationError("give either a source, or --onvif URL") }
        guard stream == nil || onvif != nil else { throw ValidationError("--stream requires --onvif") }
        for text in [url, onvif].compactMap({ $0 }) { try CameraSourceOptions.check(text) }
    }

    var onvifIsEncrypted: Bool { onvif.map { CameraRequest.scheme(of: $0) } == "https" }

    /// The source, in the form for the daemon.
    ///
    /// - Parameter isQuiet: true to not print the camera's answer.
    /// - Throws: the reason why the camera does not return its streams.
    func address(_ client: GatewayClient, password: String?, isQuiet: Bool) async throws -> String {
        guard let onvif else { return CameraSourceOptions.absolute(url ?? "") }
        let request = ONVIFRequest(
            url: onvif, username: login.username, password: password,
            certificate: onvifIsEncrypted ? login.certificate : nil)
        let report: ONVIFReport = try await client.call(
            .POST, APIPath("v1", "onvif-queries"), request, timeout: CameraOutcome.requestTime)
        if !isQuiet {
            let maker = [report.manufacturer, report.model].compactMap { $0 }.joined(separator: " ")
            if !maker.isEmpty { try Console.print(maker) }
            for (name, stream) in [("main", report.main), ("sub", report.sub)] {
                if let stream { try Console.print("\(name): \(stream.url)\(Self.words(stream))") }
            }
        }
        guard stream == .sub else { return report.main.url }
        guard let sub = report.sub else {
            throw IoTError(
                .notFound, "the camera has only one stream", remedy: "omit --stream to add its main stream")
        }
        return sub.url
    }

    private static func words(_ stream: ONVIFReport.Stream) -> String {
        let size = stream.width.flatMap { width in stream.height.map { "\(width)x\($0)" } }
        let words = [stream.codec, size].compactMap { $0 }
        return words.isEmpty ? "" : " (\(words.joined(separator: " ")))"
    }
}
