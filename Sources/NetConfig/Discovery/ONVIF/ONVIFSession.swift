import IoTCore

/// Asks one camera, request after request, for its description and its streams (ONVIF Core §8, Media §5, Media2 §5).
///
/// GetServices lists the camera's media services; cameras without it are asked with GetCapabilities. Profiles are
/// requested from Media2 first, and from Media if the camera has no Media2 or Media2 returns no profile.
///
/// The camera's answers do not decide which host we contact: only port and path of their URLs are used, with the host
/// of the first request; the user name and the password are not sent elsewhere.
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

    private let device: ServiceURL
    private let login: ONVIFLogin?
    private var random: any RandomNumberGenerator
    private var step = Step.clock
    /// The media services that are still to be tried; the first one is in use.
    private var media: [ONVIFMediaService] = []
    /// The difference in seconds by which the camera's clock is ahead of ours.
    private var clockOffset: Int64 = 0
    private var digest: HTTPDigest?
    private var digestCount: UInt32 = 0
    private var profiles: (main: ONVIFProfile, sub: ONVIFProfile?)?
    private var information: XMLElement?
    private var mainStream: ONVIFDescription.Stream?
    /// Set after the last answer.
    private(set) var result: ONVIFDescription?

    init(_ device: ServiceURL, _ login: ONVIFLogin?, random: any RandomNumberGenerator) {
        self.device = device
        self.login = login
        self.random = random
    }

    /// The first request: the camera's clock, without a login, because a login needs the camera's time.
    mutating func start() -> Request {
        Request(url: device, body: Self.envelope("", ONVIFQuestion.clock))
    }

    /// - Parameter now: Seconds since 1970.
    /// - Returns: The next request; `nil` if `result` is set.
    /// - Throws: The reason why the conversation cannot continue.
    mutating func receive(_ answer: Answer, at now: Int64) throws(IoTError) -> Request? {
        if answer.status == 401, let login, let offered = HTTPDigest.best(answer.challenges) {
            // The first attempt, or one with a new nonce: a repeated refusal with the same nonce is final.
            if offered.nonce != digest?.nonce, digestCount < 8 {
                digest = offered
                return request(login, now)
            }
        }
        let content: XMLElement?
        do throws(IoTError) {
            content = try Self.content(answer, hasLogin: login != nil)
        } catch {
            guard canDoWithout(error) else { throw error }
            content = nil
        }
        try take(content, now)
        return result == nil ? request(login, now) : nil
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
            clockOffset = content.flatMap(Self.time).map { $0 - now } ?? 0
            step = .information
        case .information:
            information = content
            step = .services
        case .services:
            media = (content.map(ONVIFMediaService.read) ?? []).map { service in
                ONVIFMediaService(version: service.version, url: atService(service.url))
            }
            step = media.isEmpty ? .capabilities : .profiles
        case .capabilities:
            let address = content?.descendant("Capabilities", "Media", "XAddr")?.text
            let url = address.flatMap { ServiceURL($0) }.map(atService) ?? device
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
            url: atDevice(url).text, name: profile.name, codec: profile.codec, width: profile.width,
            height: profile.height)
    }

    private func description(_ main: ONVIFDescription.Stream, sub: ONVIFDescription.Stream?) -> ONVIFDescription {
        func fact(_ name: String) -> String? {
            let text = (information?.child(name)?.text).map(DeviceText.clean) ?? ""
            return text.isEmpty ? nil : text
        }
        return ONVIFDescription(
            manufacturer: fact("Manufacturer"), model: fact("Model"), version: fact("FirmwareVersion"),
            serialNumber: fact("SerialNumber"), main: main, sub: sub)
    }

    private func atDevice(_ url: ServiceURL) -> ServiceURL {
        var url = url
        url.host = device.host
        return url
    }

    /// The service's URL with the host of the first request, and with TLS if and only if the first request used it. If
    /// the scheme changes, so does the port, because the user trusts the certificate of the first request's port.
    private func atService(_ url: ServiceURL) -> ServiceURL {
        var service = atDevice(url)
        if service.scheme != device.scheme { (service.scheme, service.port) = (device.scheme, device.port) }
        return service
    }

    /// The answer's content.
    private static func content(_ answer: Answer, hasLogin: Bool) throws(IoTError) -> XMLElement {
        let envelope: XMLElement?
        var reason = "HTTP \(answer.status)"
        do throws(XMLFailure) {
            envelope = try XMLReader.read(answer.body, .answer)
        } catch {
            if answer.status == 200 { reason = "\(error)" }
            envelope = nil
        }
        let content = envelope?.child("Body")?.children.first
        let fault = content?.name.local == "Fault" ? content : nil
        if answer.status == 200, fault == nil, let content { return content }
        if let fault { reason = ONVIFFault.words(fault) }
        if [401, 403].contains(answer.status) || fault.map(ONVIFFault.isRefusal) == true {
            throw hasLogin
                ? IoTError(
                    .sourceRefused, "the camera refused the user name or password",
                    remedy: "check both; some cameras have users of their own for ONVIF, made in their web page")
                : IoTError(
                    .sourceRefused, "the camera wants a user name and a password",
                    remedy: "give --username and --password-file")
        }
        throw IoTError(
            .sourceUnsupported, "the camera's ONVIF service does not answer as ONVIF says: \(reason)",
            remedy: "check the address, which ends in /onvif/device_service with most; see if ONVIF is switched on")
    }

    /// UTCDateTime of a GetSystemDateAndTimeResponse.
    private static func time(_ content: XMLElement) -> Int64? {
        guard let time = content.descendant("SystemDateAndTime", "UTCDateTime") else { return nil }
        func number(_ part: String, _ name: String) -> Int {
            (time.descendant(part, name)?.text).flatMap(Int.init) ?? -1
        }
        return UTCTime.seconds(
            year: number("Date", "Year"), month: number("Date", "Month"), day: number("Date", "Day"),
            hour: number("Time", "Hour"), minute: number("Time", "Minute"), second: number("Time", "Second"))
    }

    // MARK: Requests

    private mutating func request(_ login: ONVIFLogin?, _ now: Int64) -> Request {
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
        guard let login else { return Request(url: url, body: Self.envelope("", question)) }
        var nonce: [UInt8] = []
        for _ in 0..<16 { nonce.append(UInt8.random(in: .min ... .max, using: &random)) }
        let header = UsernameToken.header(login, nonce: nonce, created: UTCTime.text(now + clockOffset))
        var request = Request(url: url, body: Self.envelope(header, question))
        if let digest {
            digestCount += 1
            request.authorization = digest.authorization(
                username: login.username, password: login.password, method: "POST", uri: url.path,
                clientNonce: Hex.encode(nonce), count: digestCount)
        }
        return request
    }

    private static func envelope(_ header: String, _ body: String) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:Envelope xmlns:s=\"\(WSDNamespace.soap)\">\(header)"
            + "<s:Body>\(body)</s:Body></s:Envelope>"
    }
}
