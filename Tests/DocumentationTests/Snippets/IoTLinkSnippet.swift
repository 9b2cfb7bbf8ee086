import IoTCore
import IoTLink
import Logging

enum IoTLinkSnippet {
    // snippet
    /// Joins a hub with an enrolment string, and returns its session, which `run()` connects.
    static func join(_ enrolment: String, authority file: String) async throws -> LinkSession {
        let grant = try await Enrolment.exchange(try EnrolmentString(parsing: enrolment))
        guard let user = grant.user else { throw IoTError(.invalidParameter) }
        return LinkSession(
            configuration: LinkConfiguration(
                principal: .user(user.accessID), token: .value(user.token),
                endpoint: grant.endpoint(certificateAuthorityFile: file)),
            logger: Logger(label: "link"))
    }
    // end
}
