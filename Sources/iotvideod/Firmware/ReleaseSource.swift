import AsyncHTTPClient
import Foundation
import IoTCore
import NIOCore
import NIOHTTP1
import NIOSSL

/// The API from which this box downloads releases: the hub's.
struct ReleaseSource: Sendable {
    private enum Place {
        case socket(String)
        case remote(url: String, token: String, authority: [NIOSSLCertificate]?)
    }

    private let place: Place

    /// - Throws: `fileFailed`, `invalidConfiguration`.
    init(_ configuration: Configuration) throws(IoTError) {
        let keys = configuration.firmware
        guard let url = keys.url, let tokenFile = keys.tokenFile else {
            place = .socket(configuration.socket)
            return
        }
        var authority: [NIOSSLCertificate]?
        if let file = keys.certificateAuthorityFile {
            do {
                authority = try NIOSSLCertificate.fromPEMFile(file)
            } catch {
                throw IoTError(
                    .invalidConfiguration, "firmware.certificateAuthorityFile: \(file) is not a certificate in PEM",
                    underlying: error)
            }
        }
        place = .remote(url: url, token: try SecretFile.read(tokenFile), authority: authority)
    }

    func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            timeout: .init(connect: .seconds(10), read: .seconds(30)))
        configuration.redirectConfiguration = .disallow
        if case .remote(_, _, let authority?) = place {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(authority)
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// The request for the file of a release, from a place on (RFC 9110 §14).
    ///
    /// - Parameter tag: the file's entity tag, without quotes.
    func request(for id: String, from offset: Int64, tag: String) -> HTTPClientRequest {
        let path = "/v1/firmware/releases/\(id)/file"
        var request: HTTPClientRequest
        switch place {
        case .socket(let socket):
            let name = socket.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? socket
            request = HTTPClientRequest(url: "http+unix://\(name)\(path)")
        case .remote(let url, let token, _):
            request = HTTPClientRequest(url: url + path)
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        if offset > 0 {
            request.headers.add(name: "Range", value: "bytes=\(offset)-")
            request.headers.add(name: "If-Range", value: "\"\(tag)\"")
        }
        return request
    }
}
