// The files of the page and the OpenAPI document, compiled in. The compiler records each as a dependency of this file.
#include "CFerryAssets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t actions_js[] = {
#embed "../FerryServer/Page/Assets/actions.js"
};
static const uint8_t add_js[] = {
#embed "../FerryServer/Page/Assets/add.js"
};
static const uint8_t announce_js[] = {
#embed "../FerryServer/Page/Assets/announce.js"
};
static const uint8_t api_js[] = {
#embed "../FerryServer/Page/Assets/api.js"
};
static const uint8_t arrange_js[] = {
#embed "../FerryServer/Page/Assets/arrange.js"
};
static const uint8_t ask_js[] = {
#embed "../FerryServer/Page/Assets/ask.js"
};
static const uint8_t bar_js[] = {
#embed "../FerryServer/Page/Assets/bar.js"
};
static const uint8_t base_css[] = {
#embed "../FerryServer/Page/Assets/base.css"
};
static const uint8_t browsers_js[] = {
#embed "../FerryServer/Page/Assets/browsers.js"
};
static const uint8_t change_js[] = {
#embed "../FerryServer/Page/Assets/change.js"
};
static const uint8_t columns_js[] = {
#embed "../FerryServer/Page/Assets/columns.js"
};
static const uint8_t connection_js[] = {
#embed "../FerryServer/Page/Assets/connection.js"
};
static const uint8_t controls_css[] = {
#embed "../FerryServer/Page/Assets/controls.css"
};
static const uint8_t detail_css[] = {
#embed "../FerryServer/Page/Assets/detail.css"
};
static const uint8_t detail_js[] = {
#embed "../FerryServer/Page/Assets/detail.js"
};
static const uint8_t dialogsentences_js[] = {
#embed "../FerryServer/Page/Assets/dialogsentences.js"
};
static const uint8_t dom_js[] = {
#embed "../FerryServer/Page/Assets/dom.js"
};
static const uint8_t detailsentences_js[] = {
#embed "../FerryServer/Page/Assets/detailsentences.js"
};
static const uint8_t doubleclick_js[] = {
#embed "../FerryServer/Page/Assets/doubleclick.js"
};
static const uint8_t drag_js[] = {
#embed "../FerryServer/Page/Assets/drag.js"
};
static const uint8_t entry_js[] = {
#embed "../FerryServer/Page/Assets/entry.js"
};
static const uint8_t facts_js[] = {
#embed "../FerryServer/Page/Assets/facts.js"
};
static const uint8_t figures_js[] = {
#embed "../FerryServer/Page/Assets/figures.js"
};
static const uint8_t format_js[] = {
#embed "../FerryServer/Page/Assets/format.js"
};
static const uint8_t frame_css[] = {
#embed "../FerryServer/Page/Assets/frame.css"
};
static const uint8_t graph_js[] = {
#embed "../FerryServer/Page/Assets/graph.js"
};
static const uint8_t fields_js[] = {
#embed "../FerryServer/Page/Assets/fields.js"
};
static const uint8_t fieldsentences_js[] = {
#embed "../FerryServer/Page/Assets/fieldsentences.js"
};
static const uint8_t history_js[] = {
#embed "../FerryServer/Page/Assets/history.js"
};
static const uint8_t icons_js[] = {
#embed "../FerryServer/Page/Assets/icons.js"
};
static const uint8_t index_html[] = {
#embed "../FerryServer/Page/Assets/index.html"
};
static const uint8_t keyhelp_js[] = {
#embed "../FerryServer/Page/Assets/keyhelp.js"
};
static const uint8_t keys_js[] = {
#embed "../FerryServer/Page/Assets/keys.js"
};
static const uint8_t later_js[] = {
#embed "../FerryServer/Page/Assets/later.js"
};
static const uint8_t links_js[] = {
#embed "../FerryServer/Page/Assets/links.js"
};
static const uint8_t list_css[] = {
#embed "../FerryServer/Page/Assets/list.css"
};
static const uint8_t list_js[] = {
#embed "../FerryServer/Page/Assets/list.js"
};
static const uint8_t main_js[] = {
#embed "../FerryServer/Page/Assets/main.js"
};
static const uint8_t manifest_webmanifest[] = {
#embed "../FerryServer/Page/Assets/manifest.webmanifest"
};
static const uint8_t mark_svg[] = {
#embed "../FerryServer/Page/Assets/mark.svg"
};
static const uint8_t menu_js[] = {
#embed "../FerryServer/Page/Assets/menu.js"
};
static const uint8_t options_js[] = {
#embed "../FerryServer/Page/Assets/options.js"
};
static const uint8_t panel_js[] = {
#embed "../FerryServer/Page/Assets/panel.js"
};
static const uint8_t parts_js[] = {
#embed "../FerryServer/Page/Assets/parts.js"
};
static const uint8_t ranges_js[] = {
#embed "../FerryServer/Page/Assets/ranges.js"
};
static const uint8_t row_js[] = {
#embed "../FerryServer/Page/Assets/row.js"
};
static const uint8_t rowmenu_js[] = {
#embed "../FerryServer/Page/Assets/rowmenu.js"
};
static const uint8_t selection_js[] = {
#embed "../FerryServer/Page/Assets/selection.js"
};
static const uint8_t sentences_js[] = {
#embed "../FerryServer/Page/Assets/sentences.js"
};
static const uint8_t setdetail_js[] = {
#embed "../FerryServer/Page/Assets/setdetail.js"
};
static const uint8_t setsentences_js[] = {
#embed "../FerryServer/Page/Assets/setsentences.js"
};
static const uint8_t settings_js[] = {
#embed "../FerryServer/Page/Assets/settings.js"
};
static const uint8_t setwords_js[] = {
#embed "../FerryServer/Page/Assets/setwords.js"
};
static const uint8_t signin_js[] = {
#embed "../FerryServer/Page/Assets/signin.js"
};
static const uint8_t store_js[] = {
#embed "../FerryServer/Page/Assets/store.js"
};
static const uint8_t stream_js[] = {
#embed "../FerryServer/Page/Assets/stream.js"
};
static const uint8_t text_js[] = {
#embed "../FerryServer/Page/Assets/text.js"
};
static const uint8_t theme_js[] = {
#embed "../FerryServer/Page/Assets/theme.js"
};
static const uint8_t totals_js[] = {
#embed "../FerryServer/Page/Assets/totals.js"
};
static const uint8_t words_js[] = {
#embed "../FerryServer/Page/Assets/words.js"
};
static const uint8_t openapi_json[] = {
#embed "../FerryAPI/Document/openapi.json"
};

#define ASSET(path, bytes) {path, bytes, sizeof bytes}

static const struct ferry_asset page_assets[] = {
    ASSET("/actions.js", actions_js),
    ASSET("/add.js", add_js),
    ASSET("/announce.js", announce_js),
    ASSET("/api.js", api_js),
    ASSET("/arrange.js", arrange_js),
    ASSET("/ask.js", ask_js),
    ASSET("/bar.js", bar_js),
    ASSET("/base.css", base_css),
    ASSET("/browsers.js", browsers_js),
    ASSET("/change.js", change_js),
    ASSET("/columns.js", columns_js),
    ASSET("/connection.js", connection_js),
    ASSET("/controls.css", controls_css),
    ASSET("/detail.css", detail_css),
    ASSET("/detail.js", detail_js),
    ASSET("/dialogsentences.js", dialogsentences_js),
    ASSET("/dom.js", dom_js),
    ASSET("/detailsentences.js", detailsentences_js),
    ASSET("/doubleclick.js", doubleclick_js),
    ASSET("/drag.js", drag_js),
    ASSET("/entry.js", entry_js),
    ASSET("/facts.js", facts_js),
    ASSET("/figures.js", figures_js),
    ASSET("/format.js", format_js),
    ASSET("/frame.css", frame_css),
    ASSET("/graph.js", graph_js),
    ASSET("/fields.js", fields_js),
    ASSET("/fieldsentences.js", fieldsentences_js),
    ASSET("/history.js", history_js),
    ASSET("/icons.js", icons_js),
    ASSET("/index.html", index_html),
    ASSET("/keyhelp.js", keyhelp_js),
    ASSET("/keys.js", keys_js),
    ASSET("/later.js", later_js),
    ASSET("/links.js", links_js),
    ASSET("/list.css", list_css),
    ASSET("/list.js", list_js),
    ASSET("/main.js", main_js),
    ASSET("/manifest.webmanifest", manifest_webmanifest),
    ASSET("/mark.svg", mark_svg),
    ASSET("/menu.js", menu_js),
    ASSET("/options.js", options_js),
    ASSET("/panel.js", panel_js),
    ASSET("/parts.js", parts_js),
    ASSET("/ranges.js", ranges_js),
    ASSET("/row.js", row_js),
    ASSET("/rowmenu.js", rowmenu_js),
    ASSET("/selection.js", selection_js),
    ASSET("/sentences.js", sentences_js),
    ASSET("/setdetail.js", setdetail_js),
    ASSET("/setsentences.js", setsentences_js),
    ASSET("/settings.js", settings_js),
    ASSET("/setwords.js", setwords_js),
    ASSET("/signin.js", signin_js),
    ASSET("/store.js", store_js),
    ASSET("/stream.js", stream_js),
    ASSET("/text.js", text_js),
    ASSET("/theme.js", theme_js),
    ASSET("/totals.js", totals_js),
    ASSET("/words.js", words_js),
};
const struct ferry_asset *const ferry_page_assets = page_assets;
const size_t ferry_page_asset_count = sizeof page_assets / sizeof *page_assets;

const struct ferry_asset ferry_openapi_document = ASSET("/openapi.json", openapi_json);
