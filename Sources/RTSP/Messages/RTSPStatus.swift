/// The status of a response (RFC 2326 §7.1.1).
package struct RTSPStatus: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let ok = RTSPStatus(rawValue: 200)
    package static let movedPermanently = RTSPStatus(rawValue: 301)
    package static let movedTemporarily = RTSPStatus(rawValue: 302)
    package static let badRequest = RTSPStatus(rawValue: 400)
    package static let unauthorized = RTSPStatus(rawValue: 401)
    package static let forbidden = RTSPStatus(rawValue: 403)
    package static let notFound = RTSPStatus(rawValue: 404)
    package static let methodNotAllowed = RTSPStatus(rawValue: 405)
    package static let notAcceptable = RTSPStatus(rawValue: 406)
    package static let bodyTooLarge = RTSPStatus(rawValue: 413)
    package static let uriTooLong = RTSPStatus(rawValue: 414)
    package static let unsupportedMediaType = RTSPStatus(rawValue: 415)
    package static let parameterNotUnderstood = RTSPStatus(rawValue: 451)
    package static let notEnoughBandwidth = RTSPStatus(rawValue: 453)
    package static let sessionNotFound = RTSPStatus(rawValue: 454)
    package static let methodNotValidInState = RTSPStatus(rawValue: 455)
    package static let headerNotValid = RTSPStatus(rawValue: 456)
    package static let invalidRange = RTSPStatus(rawValue: 457)
    package static let aggregateNotAllowed = RTSPStatus(rawValue: 459)
    package static let onlyAggregateAllowed = RTSPStatus(rawValue: 460)
    package static let unsupportedTransport = RTSPStatus(rawValue: 461)
    package static let internalServerError = RTSPStatus(rawValue: 500)
    package static let notImplemented = RTSPStatus(rawValue: 501)
    package static let serviceUnavailable = RTSPStatus(rawValue: 503)
    package static let versionNotSupported = RTSPStatus(rawValue: 505)
    package static let optionNotSupported = RTSPStatus(rawValue: 551)

    package var isSuccess: Bool { (200...299).contains(rawValue) }
    package var isRedirection: Bool { (300...399).contains(rawValue) }

    package var description: String { "\(rawValue) \(reason)" }

    /// The reason phrase; for an unknown status, the name of its class.
    package var reason: String {
        if let phrase = Self.phrases[rawValue] { return phrase }
        return switch rawValue / 100 {
        case 1: "Continue"
        case 2: "OK"
        case 3: "Redirection"
        case 4: "Client Error"
        default: "Server Error"
        }
    }

    private static let phrases = [
        200: "OK", 301: "Moved Permanently", 302: "Moved Temporarily", 400: "Bad Request", 401: "Unauthorized",
        403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
        413: "Request Entity Too Large", 414: "Request-URI Too Large", 415: "Unsupported Media Type",
        451: "Parameter Not Understood", 453: "Not Enough Bandwidth", 454: "Session Not Found",
        455: "Method Not Valid in This State", 456: "Header Field Not Valid for Resource", 457: "Invalid Range",
        459: "Aggregate Operation Not Allowed", 460: "Only Aggregate Operation Allowed", 461: "Unsupported Transport",
        500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
        505: "RTSP Version Not Supported", 551: "Option Not Supported",
    ]
}
