/* Bundled from explorer/components by `make bundles`; edit the sources instead. */
var n={render:({model:t,el:o})=>{let e=document.createElement("iframe");return e.widget=t,e.srcdoc=String(t.get("_page")),e.style.cssText=`width: 100%; height: ${t.get("_height")}px; border: 0`,o.append(e),()=>e.remove()}};export{n as default};
