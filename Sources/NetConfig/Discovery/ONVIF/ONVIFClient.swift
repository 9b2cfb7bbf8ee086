public import IoTCore
public import NIOCore

/// Gets the streams of one ONVIF camera.
public struct ONVIFClient: Sendable {
    private let loops: any EventLoopGroup
    /// The time limit of one request.
    private let timeout: TimeAmount
    /// The time limit of the whole conversation.
    private let limit: Duration

    public init(loops: any EventLoopGroup, timeout: Duration = .seconds(5), limit: Duration = .seconds(20)) {
        self.loops = loops
        self.timeout = TimeAmount(timeout)
        self.limit = limit
    }

    /// - Parameters:
    ///   - url: The URL of its device service, `http://HOST/onvif/device_service`, or `https`.
    ///   - trust: Which certificates to accept from an `https` camera.
    /// - Throws: 25001 for a wrong URL, 25010, 25041, 25040, 25011, 25027.
    public func describe(
        _ url: String, login: ONVIFLogin?, trust: CameraTrust = .none
    ) async throws -> ONVIFDescription {
        guard let device = ServiceURL(url), ["http", "https"].contains(device.scheme) else {
            throw IoTError(
                .invalidRequest, "the ONVIF service must be http[s]://HOST[:PORT]/onvif/device_service",
                remedy: "take the address that `iotctl net discover` shows")
        }
        let exchange = HTTPExchange(loops: loops, timeout: timeout, trust: trust)
        let tooLong = IoTError(.sourceUnreachable, "the camera at \(device.host) took too long to answer")
        return try await within(limit, orThrow: tooLong) {
            var session = ONVIFSession(device, login, random: SystemRandomNumberGenerator())
            var request: ONVIFSession.Request? = session.start()
            // More than the number of requests, each with a second attempt for the digest.
            for _ in 0..<20 {
                guard let next = request else { break }
                request = try session.receive(try await exchange.post(next), at: WallClock.seconds())
            }
            guard let result = session.result else {
                throw IoTError(.sourceUnsupported, "the camera asks for a login again and again")
            }
            return result
        }
    }
}
