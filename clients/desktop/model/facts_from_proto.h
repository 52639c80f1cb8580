// Sessions and lanes from the query service's messages into the viewer's own types.
#pragma once

#include "clients/desktop/model/session_facts.h"
#include "nanolane/query/v1/query.pb.h"

namespace nanolane::desktop {

SessionFacts FactsOf(const trace::v1::SessionSummary& summary);
LaneFacts FactsOf(const query::v1::LaneInfo& info, uint32_t session);
StreamOpened FactsOf(const query::v1::TimelineHeader& header);

}  // namespace nanolane::desktop
