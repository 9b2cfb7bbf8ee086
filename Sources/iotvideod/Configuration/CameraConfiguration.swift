import Foundation
import IoTCore

/// One camera: a local source that becomes a device.
struct CameraConfiguration: Sendable, Equatable, Codable {
    enum Transport: String, Sendable, CaseIterable, Codable {
        case tcp
        case udp
    }

    /// The device's first name, and its directory's key: another name makes another device.
    var name: String
    var source: CameraSource
    var viewers = 8
    var rtspTransport = Transport.tcp
    var username: String?
    var passwordFile: String?

    /// As the configuration's keys.
    private enum CodingKeys: String, CodingKey {
        case name, viewers, rtspTransport, username, passwordFile
        case source = "url"
    }

    init(name: String, source: CameraSource) {
        self.name = name
        self.source = source
    }

    /// What to open, with the credentials that the URL needs.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration` when the password's file cannot be used.
    func openableURL() throws(IoTError) -> String {
        guard let username else { return source.url }
        let password = try passwordFile.map { path throws(IoTError) in try SecretFile.read(path) }
        return source.url(username: username, password: password)
    }
}
