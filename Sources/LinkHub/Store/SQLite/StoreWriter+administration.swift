import Firmware
import Foundation
import GRDB
import IoTCore
import IoTLink

/// Writes accounts, devices and their relations as rows.
extension StoreWriter {
    func writeAdministration(_ change: StoreChange) throws {
        switch change {
        case .putUser(let user, let record):
            try run(
                """
                INSERT INTO users (id, kind, device, expires, created_at, one_call) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    kind = excluded.kind, device = excluded.device, expires = excluded.expires,
                    one_call = excluded.one_call
                """,
                [
                    user.rawValue, record.kind.rawValue, record.device?.rawValue, record.expires, record.created,
                    record.oneCall?.rawValue,
                ])
        case .removeUser(let user): try run("DELETE FROM users WHERE id = ?", [user.rawValue])
        case .putDevice(let device, let record):
            try run(
                """
                INSERT INTO devices
                    (id, name, presence_since, camera, shares_ended, grants_ended, provisioned_with, is_announced, owners)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    name = excluded.name, presence_since = excluded.presence_since,
                    shares_ended = excluded.shares_ended, grants_ended = excluded.grants_ended,
                    provisioned_with = excluded.provisioned_with, is_announced = excluded.is_announced,
                    owners = excluded.owners
                """,
                [
                    device.rawValue, record.name, record.presenceSince, record.camera, record.sharesEnded,
                    record.grantsEnded,
                    record.provisioning?.token, record.provisioning?.isAnnounced ?? false, record.owners,
                ])
        case .removeDevice(let device): try run("DELETE FROM devices WHERE id = ?", [device.rawValue])
        case .bind(let user, let device, let binding):
            try run(
                """
                INSERT INTO bindings (user, device, role, actions, since) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (user, device) DO UPDATE SET
                    role = excluded.role, actions = excluded.actions, since = excluded.since
                """,
                [
                    user.rawValue, device.rawValue, binding.role.rawValue, binding.actions.json.jsonText,
                    binding.since,
                ])
        case .unbind(let user, let device):
            try run("DELETE FROM bindings WHERE user = ? AND device = ?", [user.rawValue, device.rawValue])
        case .putRegistration(let principal, let registration):
            try run(
                "INSERT OR REPLACE INTO registrations (principal, session, superseded) VALUES (?, ?, ?)",
                [
                    principal.description, registration.session,
                    JSONValue.array(registration.superseded.map { .string($0) }).jsonText,
                ])
        case .removeRegistration(let principal):
            try run("DELETE FROM registrations WHERE principal = ?", [principal.description])
        case .putCall(let call):
            try run(
                """
                INSERT OR REPLACE INTO calls
                    (device, session, user, asker, asker_session, needs, opened_at, ending)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    call.key.device.rawValue, call.key.session, call.user.rawValue,
                    call.asker.principal.description, call.asker.session, call.needs.json.jsonText, call.opened,
                    Int64(call.ending.rawValue),
                ])
        case .removeCall(let key):
            try run("DELETE FROM calls WHERE device = ? AND session = ?", [key.device.rawValue, key.session])
        default: try writeTokens(change)
        }
    }

    private func writeTokens(_ change: StoreChange) throws {
        switch change {
        case .addToken(let token):
            try run(
                """
                INSERT INTO tokens
                    (id, kind, name, principal, hash, salt, issued, expires, is_local, devices, actions, parent, last_use)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    token.id, token.kind.rawValue, token.name, token.principal.description,
                    token.credential?.hash ?? "",
                    token.credential?.salt ?? "", token.issued, token.expires, token.isLocal,
                    token.scope.devices.map(Self.text), token.scope.actions?.json.jsonText, token.parent,
                    token.lastUse,
                ])
        case .removeToken(let id): try run("DELETE FROM tokens WHERE id = ?", [id])
        case .putEnrolment(let enrolment):
            try run(
                """
                INSERT OR REPLACE INTO enrolments
                    (id, hash, salt, creator, user, devices, names, issued, expires, parent, provisioning)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    enrolment.id, enrolment.credential.hash, enrolment.credential.salt,
                    enrolment.creator.description, enrolment.user?.rawValue, Self.text(enrolment.devices),
                    Self.text(enrolment.names), enrolment.issued, enrolment.expires, enrolment.parent,
                    enrolment.provisioning?.rawValue,
                ])
        case .removeEnrolment(let id): try run("DELETE FROM enrolments WHERE id = ?", [id])
        case .putRecordings(let device, let record):
            try run(
                """
                INSERT INTO recordings (device, ownership, summary) VALUES (?, ?, ?)
                ON CONFLICT (device) DO UPDATE SET ownership = excluded.ownership, summary = excluded.summary
                """, [device.rawValue, record.ownership, record.summary.json.jsonText])
        case .putRelease(let release):
            try run(
                """
                INSERT INTO firmware_releases (id, manifest, signature, added, is_complete) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET is_complete = excluded.is_complete
                """,
                [
                    release.id, Data(release.signed.bytes), Data(release.signed.signature), release.added,
                    release.isComplete,
                ])
        case .removeRelease(let id): try run("DELETE FROM firmware_releases WHERE id = ?", [id])
        default: try writeKeys(change)
        }
    }

    private func writeKeys(_ change: StoreChange) throws {
        switch change {
        case .addKey(let key):
            try run(
                """
                INSERT INTO media_keys
                    (id, name, principal, devices, actions, ha1_md5, ha1_sha256, issued, expires, parent, last_use)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    key.id, key.name, key.principal.description, key.scope.devices.map(Self.text),
                    (key.scope.actions ?? []).json.jsonText, key.digest.md5, key.digest.sha256, key.issued,
                    key.expires, key.parent, key.lastUse,
                ])
        case .removeKey(let id): try run("DELETE FROM media_keys WHERE id = ?", [id])
        case .use(.key(let id), let time): try run("UPDATE media_keys SET last_use = ? WHERE id = ?", [time, id])
        case .use(.token(let id), let time): try run("UPDATE tokens SET last_use = ? WHERE id = ?", [time, id])
        default: break
        }
    }

    private static func text(_ names: [DeviceID: String]) -> String {
        let members = names.map { ($0.key.rawValue, JSONValue.string($0.value)) }
        return JSONValue.object(Dictionary(uniqueKeysWithValues: members)).jsonText
    }

    private static func text(_ devices: [DeviceID]) -> String {
        JSONValue.array(devices.map { .string($0.rawValue) }).jsonText
    }
}
