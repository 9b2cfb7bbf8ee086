import IoTCore

/// The part of a conversation with an ONVIF camera that all requests share: where it is, the login, the camera's clock.
///
/// The camera's answers do not decide which host we contact: only port and path of their URLs are used, with the host
/// of the first request; the user name and the password are not sent elsewhere.
struct ONVIFConversation {
    let device: ServiceURL
    private let login: ONVIFLogin?
    private var random: any RandomNumberGenerator
    /// The difference in seconds by which the camera's clock is ahead of ours.
    private var clockOffset: Int64 = 0
    private var digest: HTTPDigest?
    private var digestCount: UInt32 = 0
    /// How often the camera has given another nonce without accepting the login.
    private var nonces = 0

    init(_ device: ServiceURL, _ login: ONVIFLogin?, random: any RandomNumberGenerator) {
        self.device = device
        self.login = login
        self.random = random
    }

    /// The first request: the camera's clock, without a login, because a login needs the camera's time.
    func start() -> ONVIFSession.Request {
        ONVIFSession.Request(url: device, body: Self.envelope("", ONVIFQuestion.clock))
    }

    /// Takes the answer to the first request; `nil` if it has none.
    mutating func takeClock(_ content: XMLElement?, at now: Int64) {
        clockOffset = content.flatMap(Self.time).map { $0 - now } ?? 0
    }

    /// Whether the request must be made again, with a login for this nonce.
    mutating func repeats(after answer: ONVIFSession.Answer) -> Bool {
        guard answer.status == 401, login != nil, let offered = HTTPDigest.best(answer.challenges) else {
            nonces = 0
            return false
        }
        // The first attempt, or one with a new nonce: a repeated refusal with the same nonce is final.
        guard offered.nonce != digest?.nonce, nonces < 8 else { return false }
        nonces += 1
        digest = offered
        return true
    }

    /// A request with the login.
    ///
    /// - Parameters:
    ///   - headers: elements of the SOAP header.
    ///   - now: Seconds since 1970.
    mutating func request(
        to url: ServiceURL, _ question: String, headers: String = "", at now: Int64
    ) -> ONVIFSession.Request {
        guard let login else { return ONVIFSession.Request(url: url, body: Self.envelope(headers, question)) }
        let token = UsernameToken.header(login, nonce: makeNonce(), created: UTCTime.text(now + clockOffset))
        return ONVIFSession.Request(
            url: url, body: Self.envelope(headers + token, question), authorization: authorization(for: url))
    }

    /// The value of `Authorization` for a POST; `nil` for a camera that has not asked for one.
    mutating func authorization(for url: ServiceURL) -> String? {
        guard let login, let digest else { return nil }
        digestCount += 1
        return digest.authorization(
            username: login.username, password: login.password, method: "POST", uri: url.path,
            clientNonce: Hex.encode(makeNonce()), count: digestCount)
    }

    private mutating func makeNonce() -> [UInt8] {
        var nonce: [UInt8] = []
        for _ in 0..<16 { nonce.append(UInt8.random(in: .min ... .max, using: &random)) }
        return nonce
    }

    func atDevice(_ url: ServiceURL) -> ServiceURL {
        var url = url
        url.host = device.host
        return url
    }

    /// The service's URL with the host of the first request, and with TLS if and only if the first request used it. If
    /// the scheme changes, so does the port, because the user trusts the certificate of the first request's port.
    func atService(_ url: ServiceURL) -> ServiceURL {
        var service = atDevice(url)
        if service.scheme != device.scheme { (service.scheme, service.port) = (device.scheme, device.port) }
        return service
    }

    /// The answer's content.
    func content(_ answer: ONVIFSession.Answer) throws(IoTError) -> XMLElement {
        try Self.content(answer, hasLogin: login != nil)
    }

    private static func content(_ answer: ONVIFSession.Answer, hasLogin: Bool) throws(IoTError) -> XMLElement {
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

    private static func envelope(_ headers: String, _ body: String) -> String {
        let header = headers.isEmpty ? "" : "<s:Header>\(headers)</s:Header>"
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:Envelope xmlns:s=\"\(WSDNamespace.soap)\">\(header)"
            + "<s:Body>\(body)</s:Body></s:Envelope>"
    }
}
