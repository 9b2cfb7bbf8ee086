import CameraTLS
import IoTCore
import NIOCore
import NIOHTTP1
import NIOPosix

/// A request to a camera, with TLS for `https`.
struct HTTPExchange {
    let loops: any EventLoopGroup
    let timeout: TimeAmount
    var trust = CameraTrust.none

    /// - Throws: 25041 for a name without an address, 25010 without an answer in time, 25027 for an untrusted
    ///   certificate. With 25027, nothing was sent to the camera.
    func post(_ request: ONVIFSession.Request) async throws -> ONVIFSession.Answer {
        try await post(
            .bytes(ByteBuffer(string: request.body)), "application/soap+xml; charset=utf-8", to: request.url,
            authorization: request.authorization, within: timeout)
    }

    /// - Parameter limit: for sending the body, and for the answer.
    func post(
        _ body: HTTPPost.Body, _ type: String, to url: ServiceURL, authorization: String?, within limit: TimeAmount
    ) async throws -> ONVIFSession.Answer {
        var headers: HTTPHeaders = ["Content-Type": type]
        if let authorization { headers.add(name: "Authorization", value: authorization) }
        let post = HTTPPost(url, headers: headers, body: body, maximumAnswer: XMLLimits.answer.bytes)
        do {
            let answer = try await post.send(
                on: loops.next(), timeout: limit, connectTimeout: timeout, makeTLS: makeTLS(url))
            return ONVIFSession.Answer(
                status: Int(answer.head.status.code), challenges: answer.head.headers["WWW-Authenticate"],
                body: answer.body)
        } catch let error as IoTError where error.code == .dataTooLong {
            throw IoTError(.sourceUnsupported, "the camera's answer is too large")
        } catch let error as IoTError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Self.describe(error, url)
        }
    }

    private func makeTLS(_ url: ServiceURL) -> HTTPPost.MakeTLS? {
        guard url.scheme == "https" else { return nil }
        return { [trust] fail in
            try CameraTLS.handler(to: url, trust: trust, remedy: { Self.remedy($0) }, refuse: { fail($0) })
        }
    }

    private static func remedy(_ fingerprint: CertificateDigest) -> String {
        "compare this fingerprint with the one on the camera's web page; if they are equal, add "
            + "--certificate \(fingerprint); --certificate any accepts every certificate, including an attacker's"
    }

    private static func describe(_ error: any Error, _ url: ServiceURL) -> IoTError {
        let place = "\(url.host):\(url.portOrDefault)"
        if let failure = CameraTLS.describe(error, url) { return failure }
        if let failure = error as? NIOConnectionError, failure.connectionErrors.isEmpty, failure.dnsAError != nil {
            return IoTError(.sourceHostUnknown, "the host \(url.host) has no address", underlying: error)
        }
        return IoTError(.sourceUnreachable, "the camera at \(place) does not answer", underlying: error)
    }
}
