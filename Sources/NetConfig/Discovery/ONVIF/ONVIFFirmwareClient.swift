import IoTCore
package import NIOCore

/// Upgrades the firmware of one ONVIF camera by HTTP (ONVIF Core §8.4).
package struct ONVIFFirmwareClient: Sendable {
    /// What the camera says about itself.
    package struct Information: Sendable, Hashable {
        /// The maker and the model, `ACME CAM-7`.
        package var model: String
        package var version: String

        package init(model: String, version: String) {
            self.model = model
            self.version = version
        }
    }

    /// Where the camera takes a file.
    struct Offer: Hashable {
        var url: ServiceURL
        /// How long to wait before the file is sent.
        var delay: Duration
        /// How long the camera does not answer after it got the file.
        var downTime: Duration
    }

    private static let chunk = 65_536
    private static let longestDelay = Duration.seconds(60)
    private static let longestDownTime = Duration.seconds(1_800)
    /// For a file of any size, over a slow network and to a slow flash memory.
    private static let uploadTimeout = TimeAmount.minutes(30)

    private let service: ONVIFService
    private let exchange: HTTPExchange

    package init(_ service: ONVIFService, loops: any EventLoopGroup) {
        self.service = service
        exchange = HTTPExchange(loops: loops, timeout: .seconds(10), trust: service.trust)
    }

    /// - Throws: 25010, 25041, 25040, 25011, 25027.
    package func information() async throws -> Information {
        var talk = try await begin()
        return Self.information(try await ask(ONVIFQuestion.information, &talk))
    }

    /// Sends the camera a file. The camera installs it, and does not answer meanwhile.
    ///
    /// - Parameter next: the bytes of the file from a place on, at most `count`.
    /// - Returns: how long the camera expects not to answer.
    /// - Throws: as `information`; 25011 for a camera that takes no firmware in this way, or refuses the file.
    package func upload(
        size: Int, _ next: @escaping @Sendable (_ place: Int, _ count: Int) async throws -> [UInt8]
    ) async throws -> Duration {
        var talk = try await begin()
        let content = try await ask(ONVIFQuestion.upgrade, &talk)
        guard let offer = Self.offer(content, talk) else {
            throw IoTError(.sourceUnsupported, "the camera does not say where it takes its firmware")
        }
        try await Task.sleep(for: offer.delay)
        let body = HTTPPost.Body.stream(size: size) { place in
            ByteBuffer(bytes: try await next(place, min(Self.chunk, size - place)))
        }
        for _ in 0..<2 {
            let answer = try await exchange.post(
                body, "application/octet-stream", to: offer.url, authorization: talk.authorization(for: offer.url),
                within: Self.uploadTimeout)
            if talk.repeats(after: answer) { continue }
            guard (200..<300).contains(answer.status) else {
                throw IoTError(
                    .sourceUnsupported, "the camera refuses the firmware: HTTP \(answer.status)",
                    remedy: "check that the file is for this camera")
            }
            return offer.downTime
        }
        throw IoTError(.sourceRefused, "the camera refused the user name or password")
    }

    // MARK: The conversation

    private func begin() async throws -> ONVIFConversation {
        var talk = ONVIFConversation(service.device, service.login, random: SystemRandomNumberGenerator())
        let answer = try await exchange.post(talk.start())
        talk.takeClock(try? talk.content(answer), at: WallClock.seconds())
        return talk
    }

    private func ask(_ question: String, _ talk: inout ONVIFConversation) async throws -> XMLElement {
        while true {
            let request = talk.request(to: service.device, question, at: WallClock.seconds())
            let answer = try await exchange.post(request)
            // A camera gives eight other nonces at most.
            if talk.repeats(after: answer) { continue }
            return try talk.content(answer)
        }
    }

    static func information(_ content: XMLElement) -> Information {
        let model = ["Manufacturer", "Model"].compactMap { DeviceText.of($0, in: content) }.joined(separator: " ")
        return Information(model: model, version: DeviceText.of("FirmwareVersion", in: content) ?? "")
    }

    static func offer(_ content: XMLElement, _ talk: ONVIFConversation) -> Offer? {
        guard let text = content.child("UploadUri")?.text, let url = ServiceURL(text),
            ["http", "https"].contains(url.scheme)
        else { return nil }
        return Offer(
            url: talk.atService(url), delay: min(duration(content.child("UploadDelay")), longestDelay),
            downTime: min(duration(content.child("ExpectedDownTime")), longestDownTime))
    }

    /// An `xs:duration` of at most days, as cameras use it: `PT5S`, `P0DT0H1M30S`. Anything else is 0.
    private static func duration(_ element: XMLElement?) -> Duration {
        guard let text = element?.text, text.hasPrefix("P") else { return .zero }
        var (seconds, number, isTime) = (0.0, "", false)
        for letter in text.dropFirst().prefix(64) {
            switch letter {
            case "T": isTime = true
            case "0"..."9", ".": number.append(letter)
            default:
                let unit: Double? =
                    switch (letter, isTime) {
                    case ("D", false): 86_400
                    case ("H", true): 3_600
                    case ("M", true): 60
                    case ("S", true): 1
                    default: nil
                    }
                guard let unit, let value = Double(number) else { return .zero }
                seconds += unit * value
                number = ""
            }
        }
        return .seconds(min(seconds, 1_000_000))
    }
}
