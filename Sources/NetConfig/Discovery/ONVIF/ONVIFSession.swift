import IoTCore

/// Asks one camera, request after request, for its description and its streams (ONVIF Core §8, Media §5, Media2 §5).
///
/// GetServices lists the camera's media services; cameras without it are asked with GetCapabilities. Profiles are
/// requested from Media2 first, and from Media if the camera has no Media2 or Media2 returns no profile.
struct ONVIFSession {
    struct Request: Hashable, Sendable {
        var url: ServiceURL
        var body: String
        /// The value of `Authorization`.
        var authorization: String?
    }

    struct Answer: Sendable {
        var status: Int
        /// The values of `WWW-Authenticate`.
        var challenges: [String] = []
        var body: [UInt8]
    }

    private enum Step: Hashable {
        case clock, information, services, capabilities, profiles
        case stream(isMain: Bool)
    }

    private var conversation: ONVIFConversation
    private var step = Step.clock
    /// The media services that are still to be tried; the first one is in use.
    private var media: [ONVIFMediaService] = []
    private var profiles: (main: ONVIFProfile, sub: ONVIFProfile?)?
    private var information: XMLElement?
    private var mainStream: ONVIFDescription.Stream?
    /// Set after the last answer.
    private(set) var result: ONVIFDescription?

    init(_ device: ServiceURL, _ login: ONVIFLogin?, random: any RandomNumberGenerator) {
        conversation = ONVIFConversation(device, login, random: random)
    }

    private var device: ServiceURL { conversation.device }

    func start() -> Request { conversation.start() }

    /// - Parameter now: Seconds since 1970.
    /// - Returns: The next request; `nil` if `result` is set.
    /// - Throws: The reason why the conversation cannot continue.
    mutating func receive(_ answer: Answer, at now: Int64) throws(IoTError) -> Request? {
        if conversation.repeats(after: answer) { return request(now) }
        let content: XMLElement?
        do throws(IoTError) {
            content = try conversation.content(answer)
        } catch {
            guard canDoWithout(error) else { throw error }
            content = nil
        }
        try take(content, now)
        return result == nil ? request(now) : nil
    }

    // MARK: Answers

    /// Whether the conversation can continue without this answer: it is optional, or another request can replace it.
    private func canDoWithout(_ error: IoTError) -> Bool {
        switch step {
        case .clock: true
        case .services: error.code == .sourceUnsupported
        case .profiles: error.code == .sourceUnsupported && media.count > 1
        case .information, .capabilities, .stream: false
        }
    }

    private mutating func take(_ content: XMLElement?, _ now: Int64) throws(IoTError) {
        switch step {
        case .clock:
            conversation.takeClock(content, at: now)
            step = .information
        case .information:
            information = content
            step = .services
        case .services:
            media = (content.map(ONVIFMediaService.read) ?? []).map { service in
                ONVIFMediaService(version: service.version, url: conversation.atService(service.url))
            }
            step = media.isEmpty ? .capabilities : .profiles
        case .capabilities:
            let address = content?.descendant("Capabilities", "Media", "XAddr")?.text
            let url = address.flatMap { ServiceURL($0) }.map(conversation.atService) ?? device
            media = [ONVIFMediaService(version: .first, url: url)]
            step = .profiles
        case .profiles:
            if let chosen = ONVIFProfile.choose(content.map(ONVIFProfile.read) ?? []) {
                profiles = chosen
                step = .stream(isMain: true)
            } else if media.count > 1 {
                media.removeFirst()
            } else {
                throw IoTError(.sourceUnsupported, "the camera lists no video profile")
            }
        case .stream(let isMain):
            guard let profile = isMain ? profiles?.main : profiles?.sub else { return }
            let stream = try stream(profile, content)
            if isMain { mainStream = stream }
            if isMain, profiles?.sub != nil {
                step = .stream(isMain: false)
            } else if let main = mainStream {
                result = description(main, sub: isMain ? nil : stream)
            }
        }
    }

    private func stream(
        _ profile: ONVIFProfile, _ content: XMLElement?
    ) throws(IoTError) -> ONVIFDescription.Stream {
        let address = content?.descendant("MediaUri", "Uri") ?? content?.child("Uri")
        guard let text = address?.text, let url = ServiceURL(text),
            ["rtsp", "rtsps"].contains(url.scheme)
        else { throw IoTError(.sourceUnsupported, "the camera gives no RTSP address for its profile \(profile.name)") }
        return ONVIFDescription.Stream(
            url: conversation.atDevice(url).text, name: profile.name, codec: profile.codec, width: profile.width,
            height: profile.height)
    }

    private func description(_ main: ONVIFDescription.Stream, sub: ONVIFDescription.Stream?) -> ONVIFDescription {
        func fact(_ name: String) -> String? { DeviceText.of(name, in: information) }
        return ONVIFDescription(
            manufacturer: fact("Manufacturer"), model: fact("Model"), version: fact("FirmwareVersion"),
            serialNumber: fact("SerialNumber"), main: main, sub: sub)
    }

    // MARK: Requests

    private mutating func request(_ now: Int64) -> Request {
        let service = media.first ?? ONVIFMediaService(version: .first, url: device)
        let (url, question) =
            switch step {
            case .clock: (device, ONVIFQuestion.clock)
            case .information: (device, ONVIFQuestion.information)
            case .services: (device, ONVIFQuestion.services)
            case .capabilities: (device, ONVIFQuestion.capabilities)
            case .profiles: (service.url, ONVIFQuestion.profiles(service.version))
            case .stream(let isMain):
                (
                    service.url,
                    ONVIFQuestion.stream((isMain ? profiles?.main : profiles?.sub)?.token ?? "", service.version)
                )
            }
        return conversation.request(to: url, question, at: now)
    }
}
