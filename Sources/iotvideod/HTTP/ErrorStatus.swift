import Hummingbird
import IoTCore

extension HTTPResponse.Status {
    /// The HTTP status for an error number. Clients use the number in the body; the status is for proxies, logs and
    /// tools that only know HTTP. `docs/openapi.yaml` contains the same table.
    init(_ code: ErrorCode) {
        self = Self.table[code] ?? Self.fallback(code)
    }

    private static let table: [ErrorCode: HTTPResponse.Status] = {
        let rows: [(HTTPResponse.Status, [ErrorCode])] = [
            (.badRequest, [.invalidRequest, .invalidParameter]),
            (.unauthorized, [.unauthenticated]),
            (
                .forbidden,
                [
                    .forbidden, .relationInvalid, .noRelation, .relationChanged, .callTokenRejected, .callTokenInvalid,
                    .provisioningProofWrong, .lanPasswordWrong, .callerUnproven, .lanNotAllowed,
                ]
            ),
            (
                .notFound,
                [
                    .notFound, .targetNotFound, .callTargetNotFound, .pathInvalid, .recordNotFound, .downloadNotFound,
                    .playbackListEmpty,
                    .definitionUnavailable,
                    .serverPassThroughFailed,
                ]
            ),
            (
                .conflict,
                [
                    .versionConflict, .nameTaken, .alreadyBound, .boundToOther, .duplicateChannel, .duplicateCall,
                    .duplicateMessage, .operationNotAllowed, .stateMismatch, .videoSizeChanged, .cameraOff,
                    .deviceDisabled, .recorderRunning, .deviceKeyChanged, .notBindable, .talkerBusy, .calleeBusy,
                    .dataTaken, .downloadBusy, .downloadUnavailable,
                    .releaseVersionRefused, .releaseIncomplete,
                ]
            ),
            (.contentTooLarge, [.payloadTooLarge, .messageTooLong, .dataTooLong, .releaseSpaceUsed]),
            (
                .unprocessableContent,
                [
                    .valueInvalid, .reservedPropertyName, .builtInNotWritable, .actionNotSupported, .invalidQRInput,
                    .codecUnsupported, .provisioningTokenFailed, .provisioningTokenExpired, .requestIDReused,
                    .provisioningSecurity, .wifiPasswordWrong, .wifiNetworkNotFound, .downloadOffsetInvalid,
                    .downloadSizeInvalid,
                    .releaseManifestInvalid,
                    .releaseSignatureInvalid, .releaseFileDiffers, .releaseModelDiffers,
                ]
            ),
            (.tooManyRequests, [.tooManyRequests, .tooManyConnections, .allChannelsBusy, .slowReader]),
            (
                .badGateway,
                [
                    .connectFailed, .channelDisconnected, .channelSendFailed, .peerFailed, .sessionDescriptionInvalid,
                    .actionFailed, .deviceOperationFailed, .sourceUnreachable, .sourceRefused, .sourceHostUnknown,
                    .sourceNotFound, .sourceBusy, .sourceForbidden, .backChannelMissing, .sourceUnsupported, .hungUp,
                    .mediaHeaderInvalid, .modelReadFailed, .modelReceiveFailed, .devicePassThroughFailed,
                    .lanPasswordChangeFailed,
                    .provisioningUnreachable, .provisioningRefused, .provisioningVanished, .wifiFailed,
                    .deviceUnproven, .nobodyListens, .downloadEnded,
                    .releaseUnreachable, .releaseRefused,
                    .upgradeRolledBack,
                ]
            ),
            (
                .serviceUnavailable,
                [
                    .deviceOffline, .appNotOnline, .linkUnavailable, .deviceBusy, .brokerFailed, .brokerMissing,
                    .tokenRejected, .stopping, .addressInUse, .provisioningServer, .recorderUnavailable,
                ]
            ),
            (
                .gatewayTimeout,
                [
                    .peerTimeout, .callSendTimeout, .handshakeTimeout, .timeoutDisconnected, .messageTimeout,
                    .operationTimeout, .provisioningTimeout, .callbackNotFound,
                ]
            ),
            (.notImplemented, [.notImplemented, .lanPasswordUnsupported]),
        ]
        return Dictionary(uniqueKeysWithValues: rows.flatMap { row in row.1.map { ($0, row.0) } })
    }()

    /// A device's own codes and unknown codes of a newer hub are failures of the upstream; all others are failures of
    /// this server.
    private static func fallback(_ code: ErrorCode) -> HTTPResponse.Status {
        (8000..<21000).contains(code.rawValue) ? .badGateway : .internalServerError
    }
}
